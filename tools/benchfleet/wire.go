package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/golang/snappy"
	"google.golang.org/protobuf/encoding/protowire"
)

// series is one series of a write request, with one sample.
type series struct {
	labels []label // by name, __name__ among them
	value  float64
}

type label struct{ name, value string }

func (s *series) get(name string) string {
	for _, l := range s.labels {
		if l.name == name {
			return l.value
		}
	}
	return ""
}

// with returns the series with labels replaced, added or ("") removed, in the order that remote write wants.
func (s series) with(value float64, pairs ...string) series {
	out := series{value: value}
	for _, l := range s.labels {
		if !named(pairs, l.name) {
			out.labels = append(out.labels, l)
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out.labels = append(out.labels, label{pairs[i], pairs[i+1]})
		}
	}
	slices.SortFunc(out.labels, func(a, b label) int { return strings.Compare(a.name, b.name) })
	return out
}

func named(pairs []string, name string) bool {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] == name {
			return true
		}
	}
	return false
}

// decode reads what a recorder sent: a WriteRequest of remote write 1.0, compressed.
func decode(body []byte) (out []series, err error) {
	b, err := snappy.Decode(nil, body)
	if err != nil {
		return nil, fmt.Errorf("read a write request: %w", err)
	}
	err = fields(b, func(_ protowire.Number, one []byte) error {
		var s series
		err := fields(one, func(n protowire.Number, part []byte) error {
			if n != 1 {
				return nil
			}
			var l label
			err := fields(part, func(n protowire.Number, text []byte) error {
				if n == 1 {
					l.name = string(text)
				} else {
					l.value = string(text)
				}
				return nil
			})
			s.labels = append(s.labels, l)
			return err
		})
		if v, ok := sampleOf(one); ok {
			s.value = v
			out = append(out, s)
		}
		return err
	})
	return out, err
}

// sampleOf is the value of a series' sample; ok is false where it ends the series.
func sampleOf(one []byte) (v float64, ok bool) {
	_ = fields(one, func(n protowire.Number, part []byte) error {
		if n == 2 && len(part) > 8 {
			bits := binary.LittleEndian.Uint64(part[1:])
			v, ok = math.Float64frombits(bits), bits != 0x7ff0000000000002
		}
		return nil
	})
	return v, ok
}

// fields hands out the fields of a message that have a length.
func fields(b []byte, f func(protowire.Number, []byte) error) error {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("read a write request: %w", protowire.ParseError(n))
		}
		b = b[n:]
		if n = protowire.ConsumeFieldValue(field, kind, b); n < 0 {
			return fmt.Errorf("read a write request: %w", protowire.ParseError(n))
		}
		if kind == protowire.BytesType {
			part, _ := protowire.ConsumeBytes(b)
			if err := f(field, part); err != nil {
				return err
			}
		}
		b = b[n:]
	}
	return nil
}

// encode makes a WriteRequest, compressed, with a sample of each series at each time (ms since the epoch). Counters
// gain what gains says each second.
func encode(all []series, times []int64) []byte {
	var out, one, pair []byte
	for _, s := range all {
		one = one[:0]
		for _, l := range s.labels {
			pair = protowire.AppendString(protowire.AppendTag(pair[:0], 1, protowire.BytesType), l.name)
			pair = protowire.AppendString(protowire.AppendTag(pair, 2, protowire.BytesType), l.value)
			one = protowire.AppendBytes(protowire.AppendTag(one, 1, protowire.BytesType), pair)
		}
		from, gain := gains(s)
		for _, ms := range times {
			v := from + gain*float64(ms-times[0])/1000
			pair = protowire.AppendFixed64(protowire.AppendTag(pair[:0], 1, protowire.Fixed64Type), math.Float64bits(v))
			pair = protowire.AppendVarint(protowire.AppendTag(pair, 2, protowire.VarintType), uint64(ms))
			one = protowire.AppendBytes(protowire.AppendTag(one, 2, protowire.BytesType), pair)
		}
		out = protowire.AppendBytes(protowire.AppendTag(out, 1, protowire.BytesType), one)
	}
	return snappy.Encode(nil, out)
}

// gains are a series' first value and what it gains each second: the counters of parties have their rate as value
// (world.go), those of the host gain a little.
func gains(s series) (from, gain float64) {
	switch name := s.get("__name__"); {
	case !strings.HasSuffix(name, "_total") && !strings.HasSuffix(name, "_bucket"):
		return s.value, 0
	case strings.HasPrefix(name, "snag_service_"), strings.HasPrefix(name, "snag_dependency_"):
		return 1000 * s.value, s.value
	}
	return s.value, 7
}

package prom

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"snag/internal/shown"
)

// mostAnswer is how long an answer is at most, in bytes, unpacked: more than a million series.
var mostAnswer = 256 << 20

// limited fails where an answer is too long, so that it does not pass for one that was cut off.
type limited struct {
	r    io.Reader
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("it is longer than %d MB: ask for fewer hosts, as --hosts 'role=\"edge\"'", mostAnswer>>20)
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// reading takes an answer apart as it comes: of a large one only the samples are kept.
type reading struct {
	d                      *json.Decoder
	status, kind, text, is string // status, errorType, error, resultType
	wanted                 string // of is: vector or matrix
	out                    Answer
	series                 []Series          // of a matrix
	strings                map[string]string // each label value once
	bad                    error             // of a sample
}

func decode(r io.Reader, wanted string) (reading, error) {
	x := reading{d: json.NewDecoder(r), strings: map[string]string{}, wanted: wanted}
	if err := x.object(x.top); err != nil {
		return reading{}, fmt.Errorf("its answer can't be read: %w", err)
	}
	switch {
	case x.status == "error":
		return reading{}, &refusal{x.kind, x.text}
	case x.status != "success" || x.is != wanted:
		return reading{}, errors.New("its answer is no " + wanted)
	case x.bad != nil:
		return reading{}, x.bad
	}
	return x, nil
}

// object hands each key of an object to read, which reads its value.
func (x *reading) object(read func(key string) error) error {
	if err := x.open('{'); err != nil {
		return err
	}
	for x.d.More() {
		key, err := x.d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		if err := read(name); err != nil {
			return err
		}
	}
	_, err := x.d.Token()
	return err
}

func (x *reading) open(want json.Delim) error {
	token, err := x.d.Token()
	if err != nil {
		return err
	}
	if token != want {
		return fmt.Errorf("%v is no %s", shown.Cut(shown.Text(fmt.Sprint(token)), 40), want)
	}
	return nil
}

func (x *reading) top(key string) error {
	switch key {
	case "status":
		return x.d.Decode(&x.status)
	case "errorType":
		return x.d.Decode(&x.kind)
	case "error":
		return x.d.Decode(&x.text)
	case "warnings":
		var all []string
		err := x.d.Decode(&all)
		for _, text := range all {
			x.out.Warnings = append(x.out.Warnings, shown.Cut(shown.Text(text), 200))
		}
		return err
	case "data":
		return x.object(x.data)
	}
	return x.d.Decode(new(json.RawMessage))
}

func (x *reading) data(key string) error {
	switch key {
	case "resultType":
		return x.d.Decode(&x.is)
	case "result":
		if err := x.open('['); err != nil {
			return err
		}
		for x.d.More() {
			if err := x.sample(); err != nil {
				return err
			}
		}
		_, err := x.d.Token()
		return err
	}
	return x.d.Decode(new(json.RawMessage))
}

// sample reads one series. A value that is none is noted: what is no vector has others.
func (x *reading) sample() error {
	var s struct {
		Metric map[string]string    `json:"metric"`
		Value  [2]json.RawMessage   `json:"value"`
		Values [][2]json.RawMessage `json:"values"`
	}
	if err := x.d.Decode(&s); err != nil {
		return err
	}
	for name, value := range s.Metric {
		s.Metric[x.once(name)] = x.once(value)
	}
	if x.wanted == "vector" {
		if p, is := x.point(s.Value); is {
			x.out.Samples = append(x.out.Samples, Sample{Labels: s.Metric, Value: p.Value, At: time.UnixMilli(p.At)})
		}
		return nil
	}
	one := Series{Labels: s.Metric}
	for _, v := range s.Values {
		if p, is := x.point(v); is {
			one.Points = append(one.Points, p)
		}
	}
	x.series = append(x.series, one)
	return nil
}

// point reads a value with its time; a rate of nothing is none.
func (x *reading) point(v [2]json.RawMessage) (p Point, is bool) {
	var seconds float64
	var text string
	if json.Unmarshal(v[0], &seconds) != nil || json.Unmarshal(v[1], &text) != nil {
		x.bad = errors.New("its answer has a value that can't be read")
		return p, false
	}
	value, err := strconv.ParseFloat(text, 64)
	return Point{At: int64(math.Round(1000 * seconds)), Value: value}, err == nil && !math.IsNaN(value)
}

// once is the same text, of which only one is kept.
func (x *reading) once(s string) string {
	if kept, ok := x.strings[s]; ok {
		return kept
	}
	x.strings[s] = s
	return s
}

package rtmp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sort"
)

// AMF0 markers that RTMP commands use (AMF 0 Specification, section 2.1).
const (
	markNumber     = 0x00
	markBool       = 0x01
	markString     = 0x02
	markObject     = 0x03
	markNull       = 0x05
	markUndefined  = 0x06
	markECMAArray  = 0x08
	markObjectEnd  = 0x09
	markStrict     = 0x0a
	markLongString = 0x0c
)

// maxDepth bounds nested objects: commands have one level, and the decoder
// reads what a stranger sent.
const maxDepth = 8

var errShort = errors.New("rtmp: the AMF0 value is cut off")

// appendAMF encodes numbers, bools, strings, nil and map[string]any; another
// type is a mistake of the caller and becomes null.
func appendAMF(b []byte, v any) []byte {
	switch v := v.(type) {
	case float64:
		b = append(b, markNumber)
		return binary.BigEndian.AppendUint64(b, math.Float64bits(v))
	case bool:
		if v {
			return append(b, markBool, 1)
		}
		return append(b, markBool, 0)
	case string:
		return appendName(append(b, markString), v)
	case map[string]any:
		b = append(b, markObject)
		names := make([]string, 0, len(v))
		for n := range v {
			names = append(names, n)
		}
		sort.Strings(names)
		for _, n := range names {
			b = appendAMF(appendName(b, n), v[n])
		}
		return append(b, 0, 0, markObjectEnd)
	}
	return append(b, markNull)
}

func appendName(b []byte, s string) []byte {
	s = s[:min(len(s), math.MaxUint16)]
	b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
	return append(b, s...)
}

// decodeAMF reads the values of a command message. What it does not know ends
// it with an error and the values before it.
func decodeAMF(b []byte) ([]any, error) {
	var out []any
	for len(b) > 0 {
		v, rest, err := decodeValue(b, 0)
		if err != nil {
			return out, err
		}
		out, b = append(out, v), rest
	}
	return out, nil
}

func decodeValue(b []byte, depth int) (v any, rest []byte, err error) {
	if len(b) == 0 {
		return nil, nil, errShort
	}
	if depth > maxDepth {
		return nil, nil, fmt.Errorf("rtmp: AMF0 nested deeper than %d", maxDepth)
	}
	mark, b := b[0], b[1:]
	switch mark {
	case markNumber:
		if len(b) < 8 {
			return nil, nil, errShort
		}
		return math.Float64frombits(binary.BigEndian.Uint64(b)), b[8:], nil
	case markBool:
		if len(b) < 1 {
			return nil, nil, errShort
		}
		return b[0] != 0, b[1:], nil
	case markString:
		s, rest, err := decodeName(b)
		return s, rest, err
	case markLongString:
		if len(b) < 4 || uint64(len(b)-4) < uint64(binary.BigEndian.Uint32(b)) {
			return nil, nil, errShort
		}
		n := int(binary.BigEndian.Uint32(b))
		return string(b[4 : 4+n]), b[4+n:], nil
	case markNull, markUndefined:
		return nil, b, nil
	case markECMAArray:
		if len(b) < 4 {
			return nil, nil, errShort
		}
		return decodeObject(b[4:], depth) // the count is a hint; the end marker counts
	case markObject:
		return decodeObject(b, depth)
	case markStrict:
		return decodeStrict(b, depth)
	}
	return nil, nil, fmt.Errorf("rtmp: AMF0 marker 0x%02x is not one that commands use", mark)
}

func decodeName(b []byte) (string, []byte, error) {
	if len(b) < 2 {
		return "", nil, errShort
	}
	n := int(binary.BigEndian.Uint16(b))
	if len(b) < 2+n {
		return "", nil, errShort
	}
	return string(b[2 : 2+n]), b[2+n:], nil
}

func decodeObject(b []byte, depth int) (any, []byte, error) {
	out := map[string]any{}
	for {
		name, rest, err := decodeName(b)
		if err != nil {
			return nil, nil, err
		}
		if name == "" && len(rest) > 0 && rest[0] == markObjectEnd {
			return out, rest[1:], nil
		}
		if out[name], b, err = decodeValue(rest, depth+1); err != nil {
			return nil, nil, err
		}
	}
}

func decodeStrict(b []byte, depth int) (any, []byte, error) {
	if len(b) < 4 {
		return nil, nil, errShort
	}
	n, b := binary.BigEndian.Uint32(b), b[4:]
	var out []any
	for range n { // every value takes a byte, so the input bounds the loop
		v, rest, err := decodeValue(b, depth+1)
		if err != nil {
			return nil, nil, err
		}
		out, b = append(out, v), rest
	}
	return out, b, nil
}

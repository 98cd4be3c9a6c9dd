package amf

import (
	"encoding/binary"
	"math"
)

// Append encodes values as AMF0: float64, int, bool, string, nil, Object and
// Array. Another type is a mistake of the caller and becomes undefined.
func Append(b []byte, values ...any) []byte {
	for _, v := range values {
		b = appendValue(b, v)
	}
	return b
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, null0)
	case float64:
		return binary.BigEndian.AppendUint64(append(b, number0), math.Float64bits(v))
	case int:
		return appendValue(b, float64(v))
	case bool:
		if v {
			return append(b, bool0, 1)
		}
		return append(b, bool0, 0)
	case string:
		if len(v) > math.MaxUint16 {
			return append(binary.BigEndian.AppendUint32(append(b, longString0), uint32(len(v))), v...)
		}
		return appendName(append(b, string0), v)
	case Object:
		b = append(b, object0)
		for _, f := range v {
			b = appendValue(appendName(b, f.Name), f.Value)
		}
		return append(b, 0, 0, objectEnd0)
	case Array:
		b = binary.BigEndian.AppendUint32(append(b, strict0), uint32(len(v)))
		return Append(b, v...)
	}
	return append(b, undefined0)
}

func appendName(b []byte, s string) []byte {
	s = s[:min(len(s), math.MaxUint16)]
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

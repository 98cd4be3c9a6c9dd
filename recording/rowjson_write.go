package recording

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
)

// encoderOf adds rows of one table as JSON; it may be called by several at a time.
func encoderOf[T Row]() func(b []byte, row Row) ([]byte, error) {
	codecs := sync.Pool{New: func() any { return newCodec[T]() }}
	return func(b []byte, row Row) ([]byte, error) {
		v, ok := row.(T)
		if ok {
			c := codecs.Get().(*codec[T])
			c.row = v
			from := len(b)
			if c.usable {
				b, ok = appendColumns(b, c.columns)
			}
			ok = ok && c.usable
			var none T
			c.row = none
			codecs.Put(c)
			if ok {
				return b, nil
			}
			b = b[:from]
		}
		line, err := json.Marshal(row)
		return append(b, line...), err
	}
}

// appendColumns writes a struct as encoding/json does; false where it has what only
// that can write.
func appendColumns(b []byte, columns []column) ([]byte, bool) {
	b = append(b, '{')
	first := len(b)
	for i := range columns {
		c := &columns[i]
		if c.omit && (c.odd.IsValid() && c.odd.IsZero() || isEmpty(c.at)) {
			continue
		}
		if len(b) > first {
			b = append(b, ',')
		}
		ok := false
		if b, ok = appendValue(append(b, c.head...), c); !ok {
			return b, false
		}
	}
	return append(b, '}'), true
}

// isEmpty reports what omitempty leaves out.
func isEmpty(at any) bool {
	switch at := at.(type) {
	case *int:
		return *at == 0
	case *int64:
		return *at == 0
	case *uint64:
		return *at == 0
	case *float64:
		return math.Float64bits(*at) == 0
	case *bool:
		return !*at
	case *string:
		return *at == ""
	case *[]string:
		return len(*at) == 0
	case *[]uint64:
		return len(*at) == 0
	case *map[string]string:
		return len(*at) == 0
	case *Labels:
		return len(*at) == 0
	case *nested:
		return at.empty()
	case **int:
		return *at == nil
	case **uint64:
		return *at == nil
	case **float64:
		return *at == nil
	case **bool:
		return *at == nil
	}
	return false
}

func appendValue(b []byte, c *column) ([]byte, bool) {
	switch at := c.at.(type) {
	case nil:
		if c.inside == nil {
			return b, false
		}
		return appendColumns(b, c.inside)
	case *int:
		return strconv.AppendInt(b, int64(*at), 10), true
	case *int64:
		return strconv.AppendInt(b, *at, 10), true
	case *uint64:
		return strconv.AppendUint(b, *at, 10), true
	case *float64:
		return appendFloat(b, *at)
	case *bool:
		return strconv.AppendBool(b, *at), true
	case *string:
		return appendText(b, *at), true
	case *[]string:
		return appendTexts(b, *at), true
	case *[]uint64:
		return appendNumbers(b, *at), true
	case *map[string]string:
		return appendMap(b, *at), true
	case *Labels:
		return appendMap(b, *at), true
	case *nested:
		return appendNested(b, at)
	case **int:
		if *at != nil {
			return strconv.AppendInt(b, int64(**at), 10), true
		}
	case **uint64:
		if *at != nil {
			return strconv.AppendUint(b, **at, 10), true
		}
	case **float64:
		if *at != nil {
			return appendFloat(b, **at)
		}
	case **bool:
		if *at != nil {
			return strconv.AppendBool(b, **at), true
		}
	}
	return append(b, "null"...), true
}

// appendFloat writes a number as encoding/json does (floatEncoder); its error for what is no
// number is its own.
func appendFloat(b []byte, v float64) ([]byte, bool) {
	size := math.Abs(v)
	switch {
	case v == math.Trunc(v) && size < 1<<53 && !(v == 0 && math.Signbit(v)):
		return strconv.AppendInt(b, int64(v), 10), true
	case size >= 1e-6 && size < 1e21:
		return strconv.AppendFloat(b, v, 'f', -1, 64), true
	case size == 0 || math.IsNaN(v) || math.IsInf(v, 0):
		return b, false
	}
	b = strconv.AppendFloat(b, v, 'e', -1, 64)
	if n := len(b); b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' { // e-09 becomes e-9
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b, true
}

// asItIs are the bytes that stand in a string as they are. encoding/json escapes <, >
// and & as well.
var asItIs = func() (t [256]bool) {
	for c := byte(' '); c < 0x7f; c++ {
		t[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return t
}()

func appendText(b []byte, s string) []byte {
	begin := len(b)
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if asItIs[c] {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '<':
			b = append(b, `\u003c`...)
		case '>':
			b = append(b, `\u003e`...)
		case '&':
			b = append(b, `\u0026`...)
		case '"', '\\':
			b = append(b, '\\', c)
		default:
			q, err := json.Marshal(s)
			if err != nil { // a string has no way to fail
				return append(b[:begin], `""`...)
			}
			return append(b[:begin], q...)
		}
	}
	return append(append(b, s[from:]...), '"')
}

func appendTexts(b []byte, all []string) []byte {
	if all == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, s := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, s)
	}
	return append(b, ']')
}

func appendNumbers(b []byte, all []uint64) []byte {
	if all == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, v := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, v, 10)
	}
	return append(b, ']')
}

func appendMap(b []byte, m map[string]string) []byte {
	if m == nil {
		return append(b, "null"...)
	}
	b = append(b, '{')
	for i, k := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, k), ':')
		b = appendText(b, m[k])
	}
	return append(b, '}')
}

package recording

import (
	"bytes"
	"strconv"
)

// texts keeps one string for all rows of a recording that have the same: the functions
// of stacks, the names of threads.
type texts map[string]string

const (
	mostNames = 1 << 17
	mostName  = 1 << 10 // bytes of one that is kept so
)

func (n texts) of(b []byte) string {
	if s, ok := n[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(n) < mostNames && len(s) <= mostName {
		n[s] = s
	}
	return s
}

// rowReader reads rows of the usual form.
type rowReader struct {
	names texts
	b     []byte // what is left of the line
	text  []byte // of a string with escapes
	list  []string
}

// read reads a line into a codec's row, whose fields are zero; false: it is of another
// form, and the row is of no use.
func (r *rowReader) read(line []byte, columns []column) bool {
	r.b = bytes.TrimSuffix(line, []byte("\n"))
	return r.object(columns) && len(r.b) == 0
}

// next takes a byte, if it is that one.
func (r *rowReader) next(c byte) bool {
	if len(r.b) > 0 && r.b[0] == c {
		r.b = r.b[1:]
		return true
	}
	return false
}

// word takes a text, if it stands there.
func (r *rowReader) word(w string) bool {
	if len(r.b) >= len(w) && string(r.b[:len(w)]) == w {
		r.b = r.b[len(w):]
		return true
	}
	return false
}

func (r *rowReader) object(columns []column) bool {
	if !r.next('{') {
		return false
	}
	if r.next('}') {
		return true
	}
	at := 0 // columns stand in order, and some are left out
	for {
		for ; at < len(columns); at++ {
			if h := columns[at].head; len(r.b) >= len(h) && string(r.b[:len(h)]) == string(h) {
				break
			}
		}
		if at == len(columns) {
			return false
		}
		c := &columns[at]
		r.b = r.b[len(c.head):]
		if !r.value(c) {
			return false
		}
		at++
		if r.next('}') {
			return true
		}
		if !r.next(',') {
			return false
		}
	}
}

func (r *rowReader) value(c *column) (ok bool) {
	switch at := c.at.(type) {
	case nil:
		return c.inside != nil && r.object(c.inside)
	case *int:
		*at, ok = r.int()
	case *int64:
		var v int
		v, ok = r.int()
		*at = int64(v)
	case *uint64:
		*at, ok = r.uint()
	case *float64:
		*at, ok = r.float()
	case *bool:
		*at, ok = r.bool()
	case *string:
		var b []byte
		if b, ok = r.string(); ok {
			*at = r.names.of(b)
		}
	case *[]string:
		*at, ok = r.strings()
	case *[]uint64:
		*at, ok = r.numbers()
	case *map[string]string:
		*at, ok = r.pairs()
	case *Labels:
		var m map[string]string
		m, ok = r.pairs()
		*at = m
	case *nested:
		ok = r.nested(at)
	case **int:
		*at, ok = pointer(r.int())
	case **uint64:
		*at, ok = pointer(r.uint())
	case **float64:
		*at, ok = pointer(r.float())
	case **bool:
		*at, ok = pointer(r.bool())
	}
	return ok
}

func pointer[T any](v T, ok bool) (*T, bool) { return &v, ok }

func (r *rowReader) bool() (v, ok bool) {
	if r.word("true") {
		return true, true
	}
	return false, r.word("false")
}

// digits are those that the rest begins with, as JSON has integers: without leading
// zeros, with neither fraction nor exponent behind them.
func (r *rowReader) digits() []byte {
	n := 0
	for n < len(r.b) && r.b[n] >= '0' && r.b[n] <= '9' {
		n++
	}
	if n == 0 || n > 1 && r.b[0] == '0' || n < len(r.b) && (r.b[n] == '.' || r.b[n]|0x20 == 'e') {
		return nil
	}
	d := r.b[:n]
	r.b = r.b[n:]
	return d
}

func (r *rowReader) uint() (uint64, bool) {
	d := r.digits()
	if len(d) > 18 { // it may not fit
		v, err := strconv.ParseUint(string(d), 10, 64)
		return v, err == nil
	}
	var v uint64
	for _, c := range d {
		v = v*10 + uint64(c-'0')
	}
	return v, len(d) > 0
}

func (r *rowReader) int() (int, bool) {
	minus := r.next('-')
	d := r.digits()
	if len(d) == 0 || len(d) > 19 {
		return 0, false
	}
	v := uint64(0)
	for _, c := range d {
		v = v*10 + uint64(c-'0')
	}
	if v > 1<<63-1 {
		return 0, false
	}
	if minus {
		return -int(v), true
	}
	return int(v), true
}

// float reads 12, 12.345 and 9.92e-7.
func (r *rowReader) float() (float64, bool) {
	n, whole := 0, uint64(0)
	for n < len(r.b) && n < 15 && r.b[n] >= '0' && r.b[n] <= '9' {
		whole = whole*10 + uint64(r.b[n]-'0')
		n++
	}
	if n == 0 || n > 1 && r.b[0] == '0' {
		return 0, false
	}
	end := exponentEnd(r.b, fractionEnd(r.b, n))
	if end == len(r.b) || r.b[end] != ',' && r.b[end] != '}' {
		return 0, false
	}
	if end == n {
		r.b = r.b[n:]
		return float64(whole), true
	}
	v, err := strconv.ParseFloat(string(r.b[:end]), 64)
	r.b = r.b[end:]
	return v, err == nil
}

// fractionEnd is the end of the fraction that begins at n; n: there is none.
func fractionEnd(b []byte, n int) int {
	if n == len(b) || b[n] != '.' {
		return n
	}
	return someDigits(b, n, n+1)
}

// exponentEnd is the end of the exponent that begins at n; n: there is none.
func exponentEnd(b []byte, n int) int {
	if n == len(b) || b[n]|0x20 != 'e' {
		return n
	}
	from := n + 1
	if from < len(b) && (b[from] == '-' || b[from] == '+') {
		from++
	}
	return someDigits(b, n, from)
}

// someDigits is the end of the digits from there on; n: there are none.
func someDigits(b []byte, n, from int) int {
	end := from
	for end < len(b) && b[end] >= '0' && b[end] <= '9' {
		end++
	}
	if end == from {
		return n
	}
	return end
}

// string is valid until the next one.
func (r *rowReader) string() ([]byte, bool) {
	if !r.next('"') {
		return nil, false
	}
	for i, c := range r.b {
		switch {
		case c == '"':
			s := r.b[:i]
			r.b = r.b[i+1:]
			return s, true
		case c == '\\':
			return r.escaped(i)
		case c < ' ' || c >= 0x80:
			return nil, false
		}
	}
	return nil, false
}

// escaped reads a string with the escapes that templates and quotes have.
func (r *rowReader) escaped(i int) ([]byte, bool) {
	r.text = append(r.text[:0], r.b[:i]...)
	for b := r.b[i:]; len(b) > 0; b = b[1:] {
		switch c := b[0]; {
		case c == '"':
			r.b = b[1:]
			return r.text, true
		case c < ' ' || c >= 0x80:
			return nil, false
		case c != '\\':
			r.text = append(r.text, c)
		case len(b) >= 6 && b[1] == 'u' && b[2] == '0' && b[3] == '0':
			v, err := strconv.ParseUint(string(b[4:6]), 16, 8)
			if err != nil || v >= 0x80 {
				return nil, false
			}
			r.text = append(r.text, byte(v))
			b = b[5:]
		case len(b) >= 2 && (b[1] == '"' || b[1] == '\\' || b[1] == '/'):
			r.text = append(r.text, b[1])
			b = b[1:]
		default:
			return nil, false
		}
	}
	return nil, false
}

func (r *rowReader) strings() ([]string, bool) {
	if !r.next('[') {
		return nil, false
	}
	r.list = r.list[:0]
	for !r.next(']') {
		if len(r.list) > 0 && !r.next(',') {
			return nil, false
		}
		b, ok := r.string()
		if !ok {
			return nil, false
		}
		r.list = append(r.list, r.names.of(b))
	}
	return append(make([]string, 0, len(r.list)), r.list...), true
}

func (r *rowReader) numbers() ([]uint64, bool) {
	if !r.next('[') {
		return nil, false
	}
	out := []uint64{}
	for !r.next(']') {
		if len(out) > 0 && !r.next(',') {
			return nil, false
		}
		v, ok := r.uint()
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

func (r *rowReader) pairs() (map[string]string, bool) {
	if !r.next('{') {
		return nil, false
	}
	out := map[string]string{}
	for !r.next('}') {
		if len(out) > 0 && !r.next(',') {
			return nil, false
		}
		b, ok := r.string()
		if !ok || !r.next(':') {
			return nil, false
		}
		key := r.names.of(b)
		if b, ok = r.string(); !ok {
			return nil, false
		}
		if _, twice := out[key]; twice {
			return nil, false
		}
		out[key] = r.names.of(b)
	}
	return out, true
}

// Package amf reads and writes the Action Message Format, in which RTMP has its
// commands and metadata (Adobe, "AMF 0", 2007; "AMF 3", 2013). Every value is
// bounded by the bytes that it came from, by MaxDepth and by MaxValues.
package amf

import "errors"

// Bounds of what is read: commands nest once or twice, and metadata has some
// tens of values.
const (
	MaxDepth  = 16
	MaxValues = 4096 // of one Decode, those inside others counted
)

// Errors of Decode.
var (
	ErrShort  = errors.New("the AMF value is cut off")
	ErrDeep   = errors.New("AMF values nested deeper than 16")
	ErrMany   = errors.New("more than 4096 AMF values")
	ErrMarker = errors.New("an AMF marker that no version has")
	ErrRef    = errors.New("an AMF reference to what was not sent")
)

// Object is an object, an ECMA array or a dictionary, in the order as sent. A
// name may come twice.
type Object []Field

// Field is one member of an Object.
type Field struct {
	Name  string
	Value any
}

// Get returns the first member of that name, nil where there is none.
func (o Object) Get(name string) any {
	for _, f := range o {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

// String returns the member's text, "" where it is none.
func (o Object) String(name string) string {
	s, _ := o.Get(name).(string)
	return s
}

// Number returns the member's number; ok is false where it is none.
func (o Object) Number(name string) (v float64, ok bool) {
	v, ok = o.Get(name).(float64)
	return v, ok
}

// Array is a strict array, or a vector.
type Array []any

// Date is milliseconds since the Unix epoch, UTC.
type Date float64

// Decode reads AMF0 values, one after the other, to the end of b: float64, bool,
// string, nil (null, undefined, unsupported), Object, Array, Date, and []byte
// from AMF3. With an error come the values before it.
func Decode(b []byte) ([]any, error) {
	d := decoder{b: b}
	var out []any
	for len(d.b) > 0 {
		v, err := d.value0(0)
		if err != nil {
			return out, err
		}
		out = append(out, v)
	}
	return out, nil
}

// decoder is both versions' state: AMF0 may switch to AMF3 inside a message, and
// AMF3 refers back to what was sent.
type decoder struct {
	b       []byte
	values  int
	objects []any // AMF0's, by number; AMF3 counts its own
	strings []string
	complex []any
	traits  []trait
}

// enter counts one more value.
func (d *decoder) enter(depth int) error {
	if depth > MaxDepth {
		return ErrDeep
	}
	if d.values++; d.values > MaxValues {
		return ErrMany
	}
	if len(d.b) == 0 {
		return ErrShort
	}
	return nil
}

func (d *decoder) take(n int) ([]byte, error) {
	if n < 0 || len(d.b) < n {
		return nil, ErrShort
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b, nil
}

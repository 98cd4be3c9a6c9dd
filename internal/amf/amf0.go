package amf

import (
	"encoding/binary"
	"math"
)

// AMF0 markers (AMF 0, section 2.1).
const (
	number0     = 0x00
	bool0       = 0x01
	string0     = 0x02
	object0     = 0x03
	null0       = 0x05
	undefined0  = 0x06
	reference0  = 0x07
	ecmaArray0  = 0x08
	objectEnd0  = 0x09
	strict0     = 0x0a
	date0       = 0x0b
	longString0 = 0x0c
	unsupported = 0x0d
	xml0        = 0x0f
	typed0      = 0x10
	avmPlus     = 0x11 // an AMF3 value follows
)

func (d *decoder) value0(depth int) (any, error) {
	if err := d.enter(depth); err != nil {
		return nil, err
	}
	mark := d.b[0]
	d.b = d.b[1:]
	switch mark {
	case number0:
		return d.double()
	case bool0:
		b, err := d.take(1)
		return err == nil && b[0] != 0, err
	case string0:
		return d.text(2)
	case longString0, xml0:
		return d.text(4)
	case null0, undefined0, unsupported:
		return nil, nil
	case reference0:
		return d.reference0()
	case ecmaArray0:
		if _, err := d.take(4); err != nil { // the count is a hint; the end marker counts
			return nil, err
		}
		return d.object0(depth)
	case typed0:
		if _, err := d.text(2); err != nil {
			return nil, err
		}
		return d.object0(depth)
	case object0:
		return d.object0(depth)
	case strict0:
		return d.strict0(depth)
	case date0:
		v, err := d.double()
		if err != nil {
			return nil, err
		}
		_, err = d.take(2) // a time zone that must be 0
		return Date(v), err
	case avmPlus:
		return d.value3(depth + 1)
	}
	return nil, ErrMarker
}

func (d *decoder) double() (float64, error) {
	b, err := d.take(8)
	if err != nil {
		return 0, err
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
}

// text reads a string whose length is size bytes long.
func (d *decoder) text(size int) (string, error) {
	b, err := d.take(size)
	if err != nil {
		return "", err
	}
	n := uint64(0)
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	if n > uint64(len(d.b)) {
		return "", ErrShort
	}
	b, err = d.take(int(n))
	return string(b), err
}

// reference0 is an object that was sent before. One that is not finished yet (an
// object inside itself) is nil: nothing here may turn in circles.
func (d *decoder) reference0() (any, error) {
	b, err := d.take(2)
	if err != nil {
		return nil, err
	}
	i := int(binary.BigEndian.Uint16(b))
	if i >= len(d.objects) {
		return nil, ErrRef
	}
	return d.objects[i], nil
}

func (d *decoder) object0(depth int) (any, error) {
	at := len(d.objects)
	d.objects = append(d.objects, nil)
	o := Object{}
	for {
		name, err := d.text(2)
		if err != nil {
			return nil, err
		}
		if name == "" && len(d.b) > 0 && d.b[0] == objectEnd0 {
			d.b = d.b[1:]
			d.objects[at] = o
			return o, nil
		}
		v, err := d.value0(depth + 1)
		if err != nil {
			return nil, err
		}
		o = append(o, Field{name, v})
	}
}

func (d *decoder) strict0(depth int) (any, error) {
	b, err := d.take(4)
	if err != nil {
		return nil, err
	}
	at := len(d.objects)
	d.objects = append(d.objects, nil)
	a := Array{}
	for range binary.BigEndian.Uint32(b) { // every value takes a byte, so the input bounds the loop
		v, err := d.value0(depth + 1)
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	d.objects[at] = a
	return a, nil
}

package amf

import "encoding/binary"

// AMF3 markers (AMF 3, section 3.1).
const (
	undefined3 = 0x00
	null3      = 0x01
	false3     = 0x02
	true3      = 0x03
	integer3   = 0x04
	double3    = 0x05
	string3    = 0x06
	xmlDoc3    = 0x07
	date3      = 0x08
	array3     = 0x09
	object3    = 0x0a
	xml3       = 0x0b
	bytes3     = 0x0c
	vectorInt3 = 0x0d
	vectorUint = 0x0e
	vectorDbl3 = 0x0f
	vectorObj3 = 0x10
	dictionary = 0x11
)

func (d *decoder) value3(depth int) (any, error) {
	if err := d.enter(depth); err != nil {
		return nil, err
	}
	mark := d.b[0]
	d.b = d.b[1:]
	switch mark {
	case undefined3, null3:
		return nil, nil
	case false3, true3:
		return mark == true3, nil
	case integer3:
		u, err := d.u29()
		return float64(int32(u<<3) >> 3), err // 29 bits, signed (section 3.6)
	case double3:
		return d.double()
	case string3:
		return d.string3()
	}
	if mark > dictionary {
		return nil, ErrMarker
	}
	return d.complex3(mark, depth)
}

// u29 is an integer of one to four bytes (section 1.3.1).
func (d *decoder) u29() (uint32, error) {
	var v uint32
	for i := range 4 {
		b, err := d.take(1)
		if err != nil {
			return 0, err
		}
		if i == 3 {
			return v<<8 | uint32(b[0]), nil
		}
		v = v<<7 | uint32(b[0]&0x7f)
		if b[0] < 0x80 {
			break
		}
	}
	return v, nil
}

// string3 is text, or the number of a text that came before (section 1.3.2).
func (d *decoder) string3() (string, error) {
	u, err := d.u29()
	if err != nil {
		return "", err
	}
	if u&1 == 0 {
		if int(u>>1) >= len(d.strings) {
			return "", ErrRef
		}
		return d.strings[u>>1], nil
	}
	b, err := d.take(int(u >> 1))
	if err == nil && len(b) > 0 {
		d.strings = append(d.strings, string(b))
	}
	return string(b), err
}

// complex3 reads what may be referred to as an object: each is numbered before
// its members are read, so that the numbers are the sender's; until it is
// finished it is nil to those that refer to it.
func (d *decoder) complex3(mark byte, depth int) (any, error) {
	u, err := d.u29()
	if err != nil {
		return nil, err
	}
	n := int(u >> 1)
	if u&1 == 0 {
		if n >= len(d.complex) {
			return nil, ErrRef
		}
		return d.complex[n], nil
	}
	at := len(d.complex)
	d.complex = append(d.complex, nil)
	var v any
	switch mark {
	case xmlDoc3, xml3:
		var b []byte
		b, err = d.take(n)
		v = string(b)
	case bytes3:
		v, err = d.take(n)
	case date3:
		var ms float64
		ms, err = d.double()
		v = Date(ms)
	case array3:
		v, err = d.array3(n, depth)
	case object3:
		v, err = d.object3(n, depth)
	case vectorObj3:
		v, err = d.vectorOfObjects(n, depth)
	case dictionary:
		v, err = d.dictionary(n, depth)
	default:
		v, err = d.vector(mark, n)
	}
	if err != nil {
		return nil, err
	}
	d.complex[at] = v
	return v, nil
}

// vector is of fixed-size numbers (section 3.15): a byte that says whether it may
// grow, then n numbers.
func (d *decoder) vector(mark byte, n int) (any, error) {
	size := 4
	if mark == vectorDbl3 {
		size = 8
	}
	if len(d.b) < 1 || n > (len(d.b)-1)/size {
		return nil, ErrShort
	}
	if d.values += n; d.values > MaxValues {
		return nil, ErrMany
	}
	d.b = d.b[1:]
	a := make(Array, 0, n)
	for range n {
		if mark == vectorDbl3 {
			v, err := d.double()
			if err != nil {
				return nil, err
			}
			a = append(a, v)
			continue
		}
		b, err := d.take(4)
		if err != nil {
			return nil, err
		}
		v := float64(binary.BigEndian.Uint32(b))
		if mark == vectorInt3 {
			v = float64(int32(binary.BigEndian.Uint32(b)))
		}
		a = append(a, v)
	}
	return a, nil
}

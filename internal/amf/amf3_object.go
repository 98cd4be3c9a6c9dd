package amf

import "fmt"

// trait is the shape of an object (AMF 3, section 3.12).
type trait struct {
	names    []string
	dynamic  bool
	external bool
}

// array3 has named members first, then n without names (section 3.11). One
// without names is an Array; else the others are members "0", "1" …
func (d *decoder) array3(n, depth int) (any, error) {
	var o Object
	if err := d.members(&o, depth); err != nil {
		return nil, err
	}
	a := Array{}
	for range n { // every value takes a byte, so the input bounds the loop
		v, err := d.value3(depth + 1)
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	if len(o) == 0 {
		return a, nil
	}
	for i, v := range a {
		o = append(o, Field{fmt.Sprint(i), v})
	}
	return o, nil
}

// members reads names with values up to the empty name.
func (d *decoder) members(o *Object, depth int) error {
	for {
		name, err := d.string3()
		if err != nil || name == "" {
			return err
		}
		v, err := d.value3(depth + 1)
		if err != nil {
			return err
		}
		*o = append(*o, Field{name, v})
	}
}

// object3 reads an object whose first integer, less its lowest bit, is u.
func (d *decoder) object3(u, depth int) (any, error) {
	t, err := d.trait(u)
	if err != nil {
		return nil, err
	}
	if t.external {
		// Its form is known to its class only; flex.messaging.io.ArrayCollection
		// and ObjectProxy, which servers send, are one value.
		return d.value3(depth + 1)
	}
	o := Object{}
	for _, name := range t.names {
		v, err := d.value3(depth + 1)
		if err != nil {
			return nil, err
		}
		o = append(o, Field{name, v})
	}
	if t.dynamic {
		if err := d.members(&o, depth); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (d *decoder) trait(u int) (trait, error) {
	if u&1 == 0 {
		if u>>1 >= len(d.traits) {
			return trait{}, ErrRef
		}
		return d.traits[u>>1], nil
	}
	t := trait{external: u&2 != 0, dynamic: u&4 != 0}
	if _, err := d.string3(); err != nil { // the class
		return t, err
	}
	for range u >> 3 { // a name takes a byte at least
		name, err := d.string3()
		if err != nil {
			return t, err
		}
		if d.values++; d.values > MaxValues {
			return t, ErrMany
		}
		t.names = append(t.names, name)
	}
	d.traits = append(d.traits, t)
	return t, nil
}

func (d *decoder) vectorOfObjects(n, depth int) (any, error) {
	if _, err := d.take(1); err != nil {
		return nil, err
	}
	if _, err := d.string3(); err != nil { // the class
		return nil, err
	}
	a := Array{}
	for range n {
		v, err := d.value3(depth + 1)
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	return a, nil
}

// dictionary keeps the members whose key is text or a number (section 3.16).
func (d *decoder) dictionary(n, depth int) (any, error) {
	if _, err := d.take(1); err != nil {
		return nil, err
	}
	o := Object{}
	for range n {
		k, err := d.value3(depth + 1)
		if err != nil {
			return nil, err
		}
		v, err := d.value3(depth + 1)
		if err != nil {
			return nil, err
		}
		switch k := k.(type) {
		case string, float64:
			o = append(o, Field{fmt.Sprint(k), v})
		}
	}
	return o, nil
}

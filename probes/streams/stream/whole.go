package stream

// Whole is the key picture under way, where somebody wants key pictures whole. It keeps nothing
// unless it was wanted as the picture began, and MostKey bytes at the most.
type Whole struct {
	on bool
	b  []byte
}

// Begin begins a picture.
func (k *Whole) Begin(keys Keys) {
	k.on, k.b = keys != nil && keys.Wanted(), k.b[:0]
}

// On reports whether a picture is being kept.
func (k *Whole) On() bool { return k.on }

// Add adds bytes to it.
func (k *Whole) Add(parts ...[]byte) {
	for _, b := range parts {
		if k.on = k.on && len(k.b)+len(b) <= MostKey; k.on {
			k.b = append(k.b, b...)
		}
	}
}

// Drop gives the picture up: it is not whole, or there is another in its bytes.
func (k *Whole) Drop() { k.on, k.b = false, nil }

// Take gives what was kept, which is the taker's, and forgets it; nil for nothing.
func (k *Whole) Take() []byte {
	on, b := k.on, k.b
	k.on = false
	if !on || len(b) == 0 {
		return nil
	}
	k.b = nil
	return b
}

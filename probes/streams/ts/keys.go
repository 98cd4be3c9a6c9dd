package ts

import "snag/probes/streams/stream"

// wholePicture is the picture under way, where somebody wants key pictures whole.
type wholePicture struct {
	on bool
	b  []byte
}

// begin begins a picture.
func (k *wholePicture) begin(keys stream.Keys) {
	k.on, k.b = keys != nil && keys.Wanted(), k.b[:0]
}

func (k *wholePicture) add(b []byte) {
	if k.on = k.on && len(k.b)+len(b) <= stream.MostKey; k.on {
		k.b = append(k.b, b...)
	}
}

// drop gives the picture up: it is not whole, or there is another in its bytes.
func (k *wholePicture) drop() { k.on, k.b = false, nil }

// end hands a key picture on.
func (k *wholePicture) end(keys stream.Keys, codec string, key bool, at int64) {
	if k.on && key && len(k.b) > 0 {
		keys.Key(codec, k.b, at)
		k.b = nil
	}
	k.on = false
}

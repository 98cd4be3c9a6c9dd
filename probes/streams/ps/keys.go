package ps

import (
	"bytes"

	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// keyed puts key pictures together, where somebody wants them whole: it keeps the bytes of the picture
// under way, and cuts where the next begins. Only NAL units tell where: devices put several PES
// packets into one picture, each with a time.
type keyed struct {
	keys    stream.Keys
	whole   stream.Whole
	base    int  // where what is kept begins, by walk.Taken
	aligned bool // that is where a picture begins
	coded   bool // there is a slice in it
	key     bool
}

// feed takes bytes before they are walked over; taken were before them.
func (k *keyed) feed(b []byte, taken int) {
	if k.keys == nil {
		return
	}
	if !k.whole.On() {
		k.whole.Begin(k.keys)
		k.base, k.aligned, k.coded, k.key = taken, false, false, false
	}
	k.whole.Add(b)
}

// unit takes a NAL unit that ended, which began at begin; at: when what was before it came.
func (k *keyed) unit(name string, i codec.NALInfo, begin int, at int64) {
	if i.Begins && k.coded && k.whole.On() && begin >= k.base {
		k.cut(name, begin-k.base, at)
		k.base, k.aligned, k.coded, k.key = begin, true, false, false
	}
	k.coded = k.coded || i.Slice
	k.key = k.key || i.Key || i.Recovery
}

// cut hands on the picture that ends after n bytes, if it is a key picture and whole, and keeps the
// rest, which is the next one's, if that is wanted.
func (k *keyed) cut(name string, n int, at int64) {
	b := k.whole.Take()
	rest := bytes.Clone(b[n:])
	if k.aligned && k.key {
		k.keys.Key(name, b[:n:n], at)
	}
	k.whole.Begin(k.keys)
	k.whole.Add(rest)
}

// drop gives up what there is: bytes are missing.
func (k *keyed) drop() { *k = keyed{keys: k.keys} }

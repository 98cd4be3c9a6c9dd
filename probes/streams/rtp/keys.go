package rtp

import (
	"bytes"

	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// keyed puts a track's key picture together, where somebody wants key pictures whole.
type keyed struct {
	keys stream.Keys
	unpacker
	ts     uint32
	sliced bool // there is a slice in it, kept or not: parameter sets alone go before the next picture
	key    bool
	at     int64 // arrival of its last byte
}

// Keys has key pictures handed on: call it before the first packet. Those of H.264 and HEVC are, and
// of MPEG-TS.
func (s *Session) Keys(keys stream.Keys) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inside != nil {
		s.inside.Keys(keys)
		return
	}
	for _, t := range s.tracks {
		if keys != nil && (t.f.Codec == codec.H264 || t.f.Codec == codec.HEVC) {
			t.keyed.keys = keys
			t.window.Keep = t.keep
		}
	}
}

// keep copies the payload of a packet that waits for others, if it may be wanted.
func (t *track) keep(p *piece) {
	if k := &t.keyed; k.whole.On() || k.keys.Wanted() {
		p.b = bytes.Clone(p.b)
	} else {
		p.b = nil
	}
}

// add takes the packet that is next in order; lost: others are missing before it. A picture is over
// when another timestamp comes: cameras that set the marker on every slice would break it.
func (k *keyed) add(f *Format, p *piece, lost bool) {
	if lost {
		k.whole.Drop()
	}
	if k.sliced && k.ts != p.ts {
		k.end(f)
		if !lost { // else its beginning may be missing
			k.start(f)
		}
	}
	k.ts, k.at = p.ts, max(k.at, p.at)
	k.sliced = k.sliced || p.heads.coded
	k.key = k.key || p.heads.key
	if !k.whole.On() {
		return
	}
	if k.sliced && !k.key || p.b == nil || !k.payload(f, p.b) {
		k.whole.Drop()
	}
}

func (k *keyed) start(f *Format) {
	if k.whole.Begin(k.keys); k.whole.On() {
		k.whole.Add(f.sets)
	}
}

// end hands on the key picture that is whole.
func (k *keyed) end(f *Format) {
	if b := k.whole.Take(); b != nil && k.sliced && k.key {
		k.keys.Key(f.Codec, b, k.at)
	}
	k.sliced, k.coded, k.skips, k.key = false, false, false, false
}

// forget gives up what there is: the sender has begun anew.
func (k *keyed) forget() { *k = keyed{keys: k.keys, at: k.at} }

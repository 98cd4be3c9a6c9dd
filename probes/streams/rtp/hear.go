package rtp

import (
	"bytes"

	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// heard puts a track's audio together, where somebody wants it.
type heard struct {
	sounds stream.Sounds
	second stream.Second
	unit   []byte // what came of a unit in fragments
}

// Sounds has audio handed on: call it before the first packet. AAC of RFC 3640 and G.711 are, and what
// is in MPEG-TS.
func (s *Session) Sounds(sounds stream.Sounds) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inside != nil {
		s.inside.Sounds(sounds)
		return
	}
	for _, t := range s.tracks {
		if sounds != nil && t.f.heard() {
			t.heard.sounds = sounds
			t.window.Keep = t.keepSound
		}
	}
}

// heard reports whether audio of this format can be handed on.
func (f *Format) heard() bool {
	return f.Codec == codec.PCMA || f.Codec == codec.PCMU || f.Codec == codec.AAC && !f.latm
}

// keepSound copies the payload of a packet that waits for others, if it may be wanted.
func (t *track) keepSound(p *piece) {
	if t.heard.sounds.Wanted() {
		p.b = bytes.Clone(p.b)
	} else {
		p.b = nil
	}
}

// drop gives up what there is: bytes are missing.
func (h *heard) drop() {
	h.second.Drop()
	h.unit = nil
}

// hear takes the packet that is next in order, whose first unit is at ns; lost: others are missing
// before it.
func (t *track) hear(p *piece, ns int64, lost bool) {
	h, f := &t.heard, &t.f
	if lost || p.b == nil || !h.sounds.Wanted() {
		h.drop()
	}
	switch {
	case len(p.b) == 0:
	case f.Codec == codec.AAC:
		t.hearUnits(p, ns)
	default:
		if h.second.Begin(h.sounds, ns) {
			channels := max(f.Params.Channels, 1)
			h.second.Add(p.b)
			h.second.End(h.sounds, stream.Sound{Codec: f.Codec, SampleRate: int(f.Rate), Channels: channels}, ns, t.clock.ns(int64(len(p.b)/channels)), t.latest)
		}
	}
}

// hearUnits takes the access units of a packet of AAC.
func (t *track) hearUnits(p *piece, ns int64) {
	h := &t.heard
	n := int64(0)
	t.f.accessUnits(p.b, func(unit []byte, size int) {
		head, ok := t.f.adts.Header(size)
		if !ok {
			h.drop()
			return
		}
		if size > len(unit) { // a fragment
			if h.unit = append(h.unit, unit...); len(h.unit) < size && !p.marker {
				return
			}
			unit, h.unit = h.unit, nil
		} else {
			h.unit = nil
		}
		at := ns + t.clock.ns(n*t.f.duration)
		n++
		if len(unit) != size {
			h.drop()
			return
		}
		if !h.second.Begin(h.sounds, at) {
			return
		}
		h.second.Add(head[:], unit)
		h.second.End(h.sounds, stream.Sound{Codec: codec.AAC}, at, t.clock.ns(t.f.duration), t.latest)
	})
}

// accessUnits gives each unit of a payload of RFC 3640 and its size, which is more than what there is
// of it where it comes in fragments.
func (f *Format) accessUnits(b []byte, each func(unit []byte, size int)) {
	if f.sizeLength == 0 {
		for n := f.constantSize; n > 0 && len(b) >= n; b = b[n:] {
			each(b[:n], n)
		}
		if f.constantSize == 0 {
			each(b, len(b))
		}
		return
	}
	if len(b) < 2 {
		return
	}
	total := int(b[0])<<8 | int(b[1])
	data := 2 + (total+7)/8
	if data > len(b) {
		return
	}
	bits := bitReader{b: b[2:data], left: total}
	b = b[data:]
	for first := true; bits.left >= f.sizeLength && len(b) > 0; first = false {
		size := bits.take(f.sizeLength)
		bits.headerRest(f, first)
		if size > 0 {
			n := min(size, len(b))
			each(b[:n], size)
			b = b[n:]
		}
	}
}

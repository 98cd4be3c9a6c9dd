package ps

import (
	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// heard puts audio together, where somebody wants it: what PES packets have, which need not begin
// with a frame.
type heard struct {
	sounds stream.Sounds
	second stream.Second
	dts    int64 // of the last PES packet with a time
	timed  bool  // there was one
}

// begin takes the head of a PES packet.
func (h *heard) begin(s stamp) {
	if s.ok {
		h.dts, h.timed = s.dts, true
	}
	if h.timed {
		h.second.Begin(h.sounds, h.dts)
	}
}

// end takes that a PES packet is whole, of n bytes.
func (h *heard) end(p stream.Params, n int, at int64) {
	s := stream.Sound{Codec: p.Codec, SampleRate: p.SampleRate, Channels: p.Channels}
	switch p.Codec {
	case codec.PCMA, codec.PCMU:
		h.second.End(h.sounds, s, h.dts, int64(n)*1e9/int64(p.SampleRate*p.Channels), at)
	case codec.AAC:
		h.second.End(whole{h.sounds}, stream.Sound{Codec: codec.AAC}, h.dts, 0, at)
	default:
		h.second.Drop()
	}
}

// whole passes on the frames of AAC that are whole.
type whole struct{ stream.Sounds }

func (w whole) Sound(s stream.Sound, at int64) {
	if s.Bytes = codec.WholeADTS(s.Bytes); len(s.Bytes) > 0 {
		w.Sounds.Sound(s, at)
	}
}

// drop gives up what there is: bytes are missing.
func (h *heard) drop() { *h = heard{sounds: h.sounds} }

package rtp

import (
	"hash/maphash"

	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// Format is how one track's payloads are made, as the SDP says.
type Format struct {
	Kind        stream.Kind
	Codec       string // stream.Params' name
	PayloadType uint8
	Rate        uint32        // ticks per second
	Params      stream.Params // as the SDP tells; zero where it does not

	sets []byte // the SDP's parameter sets, as a byte stream (annex B)
	donl bool   // HEVC: decoding order numbers are in the payloads
	latm bool   // AAC in LATM (RFC 6416), not RFC 3640
	// LATM: the configuration is in the stream (cpresent=1, the default).
	inBand bool
	// RFC 3640: bits of an AU header's fields, bytes of a unit, ticks of a unit.
	sizeLength, indexLength, indexDelta, ctsDelta, dtsDelta, streamState int
	randomAccess                                                         bool
	constantSize                                                         int
	duration                                                             int64
	adts                                                                 codec.Framed // AAC

	told func(stream.Params) // Params changed; nil: nobody asks
	seen uint64              // hash of the last sequence header
}

var seed = maphash.MakeSeed()

// sequence reads a sequence header or parameter set that came in a payload, once
// for each that differs from the last.
func (f *Format) sequence(b []byte) {
	if len(b) > codec.MaxHead {
		return
	}
	sum := maphash.Bytes(seed, b)
	if sum == f.seen {
		return
	}
	f.seen = sum
	var p stream.Params
	var err error
	if f.Codec == codec.AV1 {
		p, err = codec.AV1SequenceHeader(b)
	} else {
		p, err = codec.SPS(f.Codec, b)
	}
	if err == nil { // one that can't be read says nothing; the frames go on
		f.tell(p)
	}
}

// tell passes on what a payload says of the track.
func (f *Format) tell(p stream.Params) {
	p.Kind, p.Codec = f.Kind, f.Codec
	if p.FPS == 0 {
		p.FPS = f.Params.FPS
	}
	if p == f.Params {
		return
	}
	f.Params = p
	if f.told != nil {
		f.told(p)
	}
}

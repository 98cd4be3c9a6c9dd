package rtp

import (
	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

var startCode = []byte{0, 0, 0, 1}

// unpacker makes a picture's byte stream (annex B) of its payloads.
type unpacker struct {
	whole stream.Whole
	coded bool // there is a slice in it
	skips bool // the unit whose fragments come is left out
}

// begin begins a NAL unit, which begins with b. What comes between slices is left out: GStreamer sends
// parameter sets before each slice of a key picture, which a decoder takes for the next one's.
func (u *unpacker) begin(name string, b []byte) {
	i := codec.NAL(name, b)
	u.skips = u.coded && !i.Slice
	u.coded = u.coded || i.Slice
	if !u.skips {
		u.whole.Add(startCode, b)
	}
}

// more adds what follows of it.
func (u *unpacker) more(b []byte) {
	if !u.skips {
		u.whole.Add(b)
	}
}

// payload adds one, and reports whether it can: H.264 in interleaved mode (MTAP) and HEVC with PACI it
// can't.
func (u *unpacker) payload(f *Format, b []byte) bool {
	switch {
	case len(b) == 0:
		return true // padding
	case f.Codec == codec.HEVC:
		return u.hevc(f, b)
	}
	switch kind := b[0] & 31; kind {
	case 24:
		return u.units(f, b[1:], 0)
	case 25: // STAP-B: a decoding order number first
		return len(b) > 3 && u.units(f, b[3:], 0)
	case 26, 27:
		return false
	case 28, 29:
		head := 2
		if kind == 29 {
			head = 4
		}
		if len(b) <= head {
			return false
		}
		if b[1]&0x80 != 0 {
			u.begin(f.Codec, []byte{b[0]&0xe0 | b[1]&31})
		}
		u.more(b[head:])
		return true
	}
	u.begin(f.Codec, b)
	return true
}

func (u *unpacker) hevc(f *Format, b []byte) bool {
	donl := 0
	if f.donl {
		donl = 2
	}
	if len(b) < 3+donl {
		return false
	}
	switch b[0] >> 1 & 63 {
	case 48:
		return u.units(f, b[2:], donl)
	case 49:
		head := 3
		if b[2]&0x80 != 0 {
			if head += donl; len(b) <= head {
				return false
			}
			u.begin(f.Codec, []byte{b[0]&0x81 | b[2]&63<<1, b[1]})
		}
		u.more(b[head:])
	case 50:
		return false
	default:
		u.begin(f.Codec, b[:2])
		u.more(b[2+donl:])
	}
	return true
}

// units takes those of an aggregation packet, as the function units reads them.
func (u *unpacker) units(f *Format, b []byte, don int) bool {
	for len(b) > don+2 {
		b = b[don:]
		don = min(don, 1)
		n := int(b[0])<<8 | int(b[1])
		if b = b[2:]; n == 0 || n > len(b) {
			return false
		}
		u.begin(f.Codec, b[:n])
		b = b[n:]
	}
	return true
}

package rtp

import (
	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// aac reads RFC 3640 (mpeg4-generic): AU headers (3.2.1) of the lengths that the
// SDP gives, then the units. A unit larger than its packet is in fragments, each
// with the whole unit's size.
func aac(f *Format, b []byte, h *heads) {
	if f.sizeLength == 0 { // no AU headers: units of one size, or one a packet
		if n := f.constantSize; n > 0 {
			for len(b) >= n {
				h.unit(n)
				b = b[n:]
			}
			h.whole = len(b) == 0
			return
		}
		oneUnit(f, b, h)
		return
	}
	if len(b) < 2 {
		return
	}
	total := int(b[0])<<8 | int(b[1]) // of the headers, in bits
	data := 2 + (total+7)/8
	if data > len(b) {
		return
	}
	left := len(b) - data
	bits := bitReader{b: b[2:data], left: total}
	for first := true; bits.left >= f.sizeLength; first = false {
		size := bits.take(f.sizeLength)
		bits.headerRest(f, first)
		if size == 0 {
			continue
		}
		if size > left { // a fragment: the packet with the marker ends it
			h.unit(size)
			h.whole = false
			return
		}
		h.unit(size)
		h.whole = true
		left -= size
	}
}

// headerRest skips what follows AU-size in an AU header (RFC 3640 3.2.1.1).
func (r *bitReader) headerRest(f *Format, first bool) {
	if first {
		r.take(f.indexLength)
	} else {
		r.take(f.indexDelta)
	}
	for _, n := range [...]int{f.ctsDelta, f.dtsDelta} {
		if n > 0 && r.take(1) == 1 {
			r.take(n)
		}
	}
	if f.randomAccess {
		r.take(1)
	}
	r.take(f.streamState)
}

// latm reads RFC 6416 (MP4A-LATM) with the configuration outside (cpresent=0), one
// audioMuxElement a packet: its PayloadLengthInfo (ISO/IEC 14496-3 1.7.3.1), bytes
// of 255 and one below, is not of the elementary stream. With it inside the size
// is the packet's.
func latm(f *Format, b []byte, h *heads) {
	size := len(b)
	if !f.inBand {
		n, i := 0, 0
		for i < len(b) {
			n += int(b[i])
			i++
			if b[i-1] != 255 {
				break
			}
		}
		// Further sub-frames, or a fragment that does not begin with a length.
		if n > 0 && n <= len(b)-i {
			size = n
		}
	}
	h.unit(size)
	h.whole = false // the marker ends it; of one in fragments the last one's size is given
}

// mpegAudio is RFC 2250 3.5: four bytes, the last two the offset in a frame that is
// in fragments, then frames that say their own size. The SDP does not tell the layer.
func mpegAudio(f *Format, b []byte, h *heads) {
	if len(b) < 4 || b[2]|b[3] != 0 {
		return // the first fragment told the frame's size
	}
	f.framed(b[4:], h, codec.MPEGAudio)
}

// dolby is RFC 4184 4.1.1 (AC-3) and RFC 4598 4.1.1 (E-AC-3): two bytes, then frames
// that say their own size. Of one in fragments only the first begins as a frame does.
func dolby(f *Format, b []byte, h *heads) {
	const laterFragment = 3 // of AC-3; E-AC-3 has 0 and 1
	if len(b) < 2 || b[0]&3 == laterFragment {
		return
	}
	f.framed(b[2:], h, codec.DolbyAudio)
}

// framed gives frames that begin with a head; of the last one the packet may have
// only a part.
func (f *Format) framed(b []byte, h *heads, head func([]byte) (codec.FrameHeader, error)) {
	for len(b) > 0 {
		frame, err := head(b)
		if err != nil || frame.Size <= 0 || frame.SampleRate <= 0 {
			return
		}
		f.Codec, f.duration = frame.Codec, int64(frame.Samples)*int64(f.Rate)/int64(frame.SampleRate)
		f.tell(stream.Params{SampleRate: frame.SampleRate, Channels: frame.Channels})
		h.unit(frame.Size)
		h.whole = true
		b = b[min(frame.Size, len(b)):]
	}
}

// bitReader reads bits from the most significant on; past the end it reads zeros.
type bitReader struct {
	b    []byte
	pos  int
	left int
}

func (r *bitReader) take(n int) int {
	v := 0
	for range n {
		v <<= 1
		if r.left > 0 && r.pos < 8*len(r.b) {
			v |= int(r.b[r.pos/8] >> (7 - r.pos%8) & 1)
		}
		r.pos++
		r.left--
	}
	return v
}

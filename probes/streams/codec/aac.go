package codec

import "snag/probes/streams/stream"

// Audio is what a track of coded audio says of itself.
type Audio struct {
	stream.Params
	Samples int // of one frame, at Params.SampleRate
}

var aacRates = [16]int{96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350}

var aacChannels = [16]int{0, 1, 2, 3, 4, 5, 6, 8, 0, 0, 0, 7, 8, 24, 8}

// AACConfig reads an AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1). SampleRate is
// what a decoder puts out: twice the core's where SBR is told, by its own object
// type or by the sync extension after the core's; Channels 2 for a mono core with
// parametric stereo. SBR that is not told at all can't be known from here.
func AACConfig(b []byte) (Audio, error) {
	const what = "AudioSpecificConfig"
	a := Audio{Params: stream.Params{Kind: stream.Audio, Codec: AAC}}
	r := bits{b: b[:min(len(b), MaxHead)]}
	object := objectType(&r)
	core := aacRate(&r)
	channels := int(r.u(4))
	out, ps := core, false
	if object == 5 || object == 29 { // SBR, PS: told before the core's own type
		ps = object == 29
		out = aacRate(&r)
		if object = objectType(&r); object == 22 {
			r.skip(4)
		}
	}
	if r.short {
		return a, bad(what, errShort)
	}
	if core < 1 || core > 192000 || out < 1 || out > 192000 {
		return a, badf(what, "a sampling rate of %d Hz", max(core, out))
	}
	a.Channels = aacChannels[channels]
	samples := 1024
	switch object {
	case 1, 2, 3, 4, 6, 7, 17, 19, 20, 21, 22, 23: // GASpecificConfig, 4.4.1
		if r.flag() {
			samples = 960
		}
		if object == 23 { // low delay: 512 or 480
			samples /= 2
		}
		if r.flag() {
			r.skip(14)
		}
		extension := r.flag()
		if channels == 0 {
			a.Channels = programChannels(&r)
		}
		if object == 6 || object == 20 {
			r.skip(3)
		}
		if extension {
			switch object {
			case 22:
				r.skip(16)
			case 17, 19, 20, 23:
				r.skip(3)
			}
			r.skip(1)
		}
		if r.short {
			return a, bad(what, errShort)
		}
		if out == core && r.left() >= 16 && r.u(11) == 0x2b7 && objectType(&r) == 5 && r.flag() {
			if rate := aacRate(&r); rate > 0 && !r.short {
				out = rate
			}
			ps = r.left() >= 12 && r.u(11) == 0x548 && r.flag()
		}
	case 39: // ER AAC ELD
		samples = 512
		if r.flag() {
			samples = 480
		}
	}
	if ps && a.Channels == 1 {
		a.Channels = 2
	}
	a.SampleRate = out
	a.Samples = samples * out / core
	return a, nil
}

func objectType(r *bits) int {
	t := int(r.u(5))
	if t == 31 {
		t = 32 + int(r.u(6))
	}
	return t
}

func aacRate(r *bits) int {
	i := r.u(4)
	if i == 15 {
		return int(r.u(24))
	}
	return aacRates[i]
}

// programChannels counts the channels of a program_config_element (4.4.1.1).
func programChannels(r *bits) int {
	r.skip(4 + 2 + 4)
	front, side, back, lfe := int(r.u(4)), int(r.u(4)), int(r.u(4)), int(r.u(2))
	assoc, coupling := int(r.u(3)), int(r.u(4))
	for _, n := range [2]int{4, 4} { // mono and stereo mixdown
		if r.flag() {
			r.skip(n)
		}
	}
	if r.flag() { // matrix mixdown
		r.skip(3)
	}
	channels := lfe
	for range front + side + back {
		channels++
		if r.flag() { // a pair
			channels++
		}
		r.skip(4)
	}
	r.skip(4*lfe + 4*assoc + 5*coupling)
	r.skip(-r.pos & 7) // byte_alignment
	r.skip(8 * int(r.u(8)))
	return channels
}

// ADTSHeader is the head of one AAC frame in a transport stream.
type ADTSHeader struct {
	Audio
	Size int // bytes of the frame, header and all
	Head int // bytes of the header: 7, or 9 with a CRC
}

// ADTS reads the header at the start of b (ISO/IEC 13818-7 6.2); seven bytes are
// enough. SBR is not told in it: SampleRate is the core's.
func ADTS(b []byte) (ADTSHeader, error) {
	const what = "ADTS header"
	h := ADTSHeader{Audio: Audio{Params: stream.Params{Kind: stream.Audio, Codec: AAC}}}
	if len(b) < 7 {
		return h, bad(what, errShort)
	}
	if b[0] != 0xff || b[1]&0xf6 != 0xf0 {
		return h, badf(what, "no sync word")
	}
	h.SampleRate = aacRates[b[2]>>2&15]
	if h.SampleRate == 0 {
		return h, badf(what, "sampling rate index %d", b[2]>>2&15)
	}
	h.Channels = aacChannels[b[2]&1<<2|b[3]>>6]
	h.Size = int(b[3]&3)<<11 | int(b[4])<<3 | int(b[5])>>5
	h.Samples = 1024 * (int(b[6]&3) + 1)
	h.Head = 7
	if b[1]&1 == 0 {
		h.Head = 9
	}
	if h.Size < h.Head {
		return h, badf(what, "a frame of %d bytes", h.Size)
	}
	return h, nil
}

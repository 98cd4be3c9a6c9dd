package codec

import "snag/probes/streams/stream"

var (
	ac3Rates    = [19]int{32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640}
	ac3Channels = [8]int{2, 1, 2, 3, 3, 4, 4, 5}
	ac3Hz       = [3]int{48000, 44100, 32000}
)

// DolbyAudio reads the head of an AC-3 (ETSI TS 102 366 4.3) or E-AC-3 (E.1.2)
// frame; eight bytes are enough.
func DolbyAudio(b []byte) (FrameHeader, error) {
	const what = "AC-3 header"
	h := FrameHeader{Audio: Audio{Params: stream.Params{Kind: stream.Audio, Codec: AC3}, Samples: 1536}}
	if len(b) < 8 {
		return h, bad(what, errShort)
	}
	if b[0] != 0x0b || b[1] != 0x77 {
		return h, badf(what, "no sync word")
	}
	if b[5]>>3 > 10 {
		return eac3(h, b)
	}
	rate, code := b[4]>>6, int(b[4]&63)
	if rate == 3 || code > 37 {
		return h, badf(what, "sampling rate %d, frame size code %d", rate, code)
	}
	h.SampleRate = ac3Hz[rate]
	h.Size = 2 * (1000 * ac3Rates[code/2] * 96 / h.SampleRate)
	if rate == 1 {
		h.Size += 2 * (code & 1)
	}
	r := bits{b: b[6:8]}
	mode := r.u(3)
	if mode&1 != 0 && mode != 1 {
		r.skip(2) // cmixlev
	}
	if mode&4 != 0 {
		r.skip(2) // surmixlev
	}
	if mode == 2 {
		r.skip(2) // dsurmod
	}
	h.Channels = ac3Channels[mode] + int(r.u(1))
	return h, nil
}

func eac3(h FrameHeader, b []byte) (FrameHeader, error) {
	h.Codec = EAC3
	h.Size = 2 * ((int(b[2]&7)<<8 | int(b[3])) + 1)
	rate, blocks := b[4]>>6, b[4]>>4&3
	if rate == 3 {
		if blocks == 3 {
			return h, badf("E-AC-3 header", "reserved sampling rate")
		}
		h.SampleRate = ac3Hz[blocks] / 2
	} else {
		h.SampleRate = ac3Hz[rate]
		h.Samples = 256 * [4]int{1, 2, 3, 6}[blocks]
	}
	h.Channels = ac3Channels[b[4]>>1&7] + int(b[4]&1)
	if b[2]>>6 == 1 { // a dependent substream: more channels of the frame before
		h.Samples = 0
	}
	return h, nil
}

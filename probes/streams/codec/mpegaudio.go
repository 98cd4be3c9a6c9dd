package codec

import "snag/probes/streams/stream"

// FrameHeader is the head of an audio frame that says its own size.
type FrameHeader struct {
	Audio
	Size int // bytes of the frame, header and all
}

// Bitrates in kbit/s by index: ISO/IEC 11172-3 2.4.2.3, 13818-3 2.4.2.3.
var mpegRates = [5][15]int{
	{0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448}, // version 1, layer I
	{0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},    // 1, II
	{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},     // 1, III
	{0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},    // 2, I
	{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},         // 2, II and III
}

// MPEGAudio reads the header of an MPEG-1, -2 or -2.5 audio frame of layer I to
// III; four bytes are enough. The free format, whose size is not told, is an error.
func MPEGAudio(b []byte) (FrameHeader, error) {
	const what = "MPEG audio header"
	h := FrameHeader{Audio: Audio{Params: stream.Params{Kind: stream.Audio, Codec: MP3}}}
	if len(b) < 4 {
		return h, bad(what, errShort)
	}
	version, layer := b[1]>>3&3, 4-int(b[1]>>1&3) // version: 3 is MPEG-1, 2 is MPEG-2, 0 is 2.5
	index, rate := b[2]>>4, b[2]>>2&3
	if b[0] != 0xff || b[1]&0xe0 != 0xe0 || version == 1 || layer == 4 || rate == 3 {
		return h, badf(what, "no sync word")
	}
	if index == 0 || index == 15 {
		return h, badf(what, "bit rate index %d", index)
	}
	h.SampleRate = [3]int{44100, 48000, 32000}[rate]
	table := layer - 1
	if version != 3 {
		table = min(layer-1, 1) + 3
		h.SampleRate /= 2
		if version == 0 {
			h.SampleRate /= 2
		}
	}
	bitrate, pad := 1000*mpegRates[table][index], int(b[2]>>1&1)
	switch layer {
	case 1:
		h.Samples, h.Size = 384, 4*(12*bitrate/h.SampleRate+pad)
	case 2:
		h.Samples, h.Size = 1152, 144*bitrate/h.SampleRate+pad
	default:
		h.Samples = 1152
		if version != 3 {
			h.Samples = 576
		}
		h.Size = h.Samples/8*bitrate/h.SampleRate + pad
	}
	if layer != 3 {
		h.Codec = MP2
	}
	h.Channels = 2
	if b[3]>>6 == 3 {
		h.Channels = 1
	}
	return h, nil
}

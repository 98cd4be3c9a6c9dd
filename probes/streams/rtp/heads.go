package rtp

import (
	"snag/probes/streams/codec"
	"snag/probes/streams/stream"
)

// maxUnits is how many access units of one packet are told apart; more in one are
// added to the last.
const maxUnits = 16

// heads is what is kept of a payload.
type heads struct {
	size   int  // bytes of the elementary stream
	coded  bool // part of a picture, or sound: parameter sets alone are not
	key    bool
	begins bool // a picture begins here, as far as the payload tells
	whole  bool // sound: the last unit ends in this packet
	units  int  // sound: access units
	sizes  [maxUnits]int32
}

// payload reads the head of one packet's payload.
type payload func(f *Format, b []byte, h *heads)

// payloads by codec and, where there are several, the encoding name of the SDP.
func payloadOf(f *Format) payload {
	switch f.Codec {
	case codec.H264:
		return h264
	case codec.HEVC:
		return hevc
	case codec.AV1:
		return av1
	case "vp8":
		return vp8
	case codec.VP9:
		return vp9
	case "mjpeg":
		return jpeg
	case codec.AAC:
		if f.latm {
			return latm
		}
		return aac
	case codec.MP2, codec.MP3:
		return mpegAudio
	case codec.AC3, codec.EAC3:
		return dolby
	}
	return oneUnit
}

// oneUnit is a packet that is one block of samples: Opus (RFC 7587 4.2), PCM
// (RFC 3551 4.5), and what else is sound.
func oneUnit(_ *Format, b []byte, h *heads) { h.unit(len(b)); h.whole = true }

func (h *heads) unit(size int) {
	h.coded = true
	h.size += size
	if h.units < maxUnits {
		h.sizes[h.units] = int32(size)
		h.units++
	} else {
		h.sizes[maxUnits-1] += int32(size)
	}
}

// jpeg is RFC 2435: every picture stands alone; 8 bytes of header at least, the last
// two its size in eighths, rounded up, or 0 over 2040.
func jpeg(f *Format, b []byte, h *heads) {
	if len(b) < 8 {
		return
	}
	h.coded, h.key = true, true
	h.begins = b[1] == 0 && b[2] == 0 && b[3] == 0 // fragment offset
	h.size = len(b) - 8
	if w, height := 8*int(b[6]), 8*int(b[7]); h.begins && w > 0 && height > 0 {
		f.tell(stream.Params{Width: w, Height: height})
	}
}

package codec

import (
	"bytes"

	"snag/probes/streams/stream"
)

// OpusHead reads the identification header (RFC 7845 5.1) or, without its magic
// word, the like of it in MP4's dOps. Opus always runs at 48 kHz.
func OpusHead(b []byte) (stream.Params, error) {
	p := stream.Params{Kind: stream.Audio, Codec: Opus, SampleRate: 48000}
	b = bytes.TrimPrefix(b, []byte("OpusHead"))
	if len(b) < 11 {
		return p, bad("OpusHead", errShort)
	}
	if b[0] > 15 || b[1] == 0 {
		return p, badf("OpusHead", "version %d, %d channels", b[0], b[1])
	}
	p.Channels = int(b[1])
	return p, nil
}

// OpusSamples is how many samples at 48 kHz a packet holds (RFC 6716 3.1), 0 when
// it is none; two bytes of it are enough.
func OpusSamples(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	var frame int
	switch config := int(b[0] >> 3); {
	case config < 12: // SILK: 10, 20, 40, 60 ms
		frame = [4]int{480, 960, 1920, 2880}[config&3]
	case config < 16: // hybrid: 10, 20 ms
		frame = 480 << (config & 1)
	default: // CELT: 2.5, 5, 10, 20 ms
		frame = 120 << (config & 3)
	}
	n := 1
	switch b[0] & 3 {
	case 1, 2:
		n = 2
	case 3:
		if len(b) < 2 {
			return 0
		}
		n = int(b[1] & 63)
	}
	if n*frame > 5760 { // 120 ms is the most
		return 0
	}
	return n * frame
}

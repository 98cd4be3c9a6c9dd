package codec

import "snag/probes/streams/stream"

var mpeg2Rates = [16]float64{0, 24000.0 / 1001, 24, 25, 30000.0 / 1001, 30, 50, 60000.0 / 1001, 60}

// MPEG2Sequence reads a sequence_header (ISO/IEC 13818-2 6.2.2.1) from its start
// code's last byte, B3, on: eight bytes are enough.
func MPEG2Sequence(b []byte) (stream.Params, error) {
	p := stream.Params{Kind: stream.Video, Codec: MP2V}
	if len(b) < 5 || b[0] != 0xb3 {
		return p, badf("MPEG-2 sequence header", "it is none")
	}
	p.Width = int(b[1])<<4 | int(b[2])>>4
	p.Height = int(b[2]&15)<<8 | int(b[3])
	p.FPS = mpeg2Rates[b[4]&15]
	if p.Width == 0 || p.Height == 0 {
		return p, badf("MPEG-2 sequence header", "a picture of %d×%d", p.Width, p.Height)
	}
	return p, nil
}

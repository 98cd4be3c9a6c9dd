package passive

import (
	"snag/probes/streams/rtp"
	"snag/probes/streams/stream"
)

// guesses is how many packets of a channel are looked at before one is made.
const guesses = 16

// guess finds out what a channel carries where no description was captured: the
// static payload types (RFC 3551, table 4), and H.264 and HEVC by their NAL units'
// types. Other sound has a clock that no packet tells; it is left out.
type guess struct {
	seen [16]struct {
		kind       uint8 // payload type
		n          int
		h264, hevc int
	}
}

// packet takes a packet of a channel, and gives the formats and their channels once
// they are clear.
func (g *guess) packet(channel uint8, b []byte) (formats []rtp.Format, channels []uint8) {
	if channel&1 != 0 || int(channel/2) >= len(g.seen) || len(b) < 14 || b[0]>>6 != 2 {
		return nil, nil
	}
	head := 12 + 4*int(b[0]&0x0f)
	if b[0]&0x10 != 0 || len(b) < head+2 {
		return nil, nil
	}
	s := &g.seen[channel/2]
	s.kind = b[1] & 0x7f
	s.n++
	p := b[head:]
	switch t := p[0] & 0x1f; { // RFC 6184, 5.2 and 5.4
	case p[0]&0x80 != 0:
	case t >= 1 && t <= 9, t == 24, t == 28:
		s.h264++
	}
	switch t := p[0] >> 1 & 0x3f; { // RFC 7798, 1.1.4 and 4.4
	case p[0]&0x81 != 0 || p[1] != 1:
	case t <= 21, t >= 32 && t <= 40, t == 48, t == 49:
		s.hevc++
	}
	if s.n < guesses {
		return nil, nil
	}
	for i := range g.seen {
		s := &g.seen[i]
		var f rtp.Format
		var err error
		switch {
		case s.n == 0:
			continue
		case s.kind == 0:
			f, err = rtp.NewFormat(stream.Audio, 0, "PCMU", 8000, 1, "")
		case s.kind == 8:
			f, err = rtp.NewFormat(stream.Audio, 8, "PCMA", 8000, 1, "")
		case s.kind < 96:
			continue
		case s.hevc == s.n && s.n > guesses/2:
			f, err = rtp.NewFormat(stream.Video, s.kind, "H265", 90000, 0, "")
		case s.h264 == s.n && s.n > guesses/2:
			f, err = rtp.NewFormat(stream.Video, s.kind, "H264", 90000, 0, "")
		default:
			continue
		}
		if err == nil && !g.has(formats, f.Kind) {
			formats, channels = append(formats, f), append(channels, uint8(2*i))
		}
	}
	if len(formats) == 0 {
		*g = guess{} // look again
	}
	return formats, channels
}

func (*guess) has(formats []rtp.Format, k stream.Kind) bool {
	for _, f := range formats {
		if f.Kind == k {
			return true
		}
	}
	return false
}

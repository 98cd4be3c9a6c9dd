package packet

import "encoding/binary"

// Options are what TCP's options say (RFC 9293 3.2, RFC 7323, RFC 2018, RFC 2883).
type Options struct {
	MSS    uint16 // 0: not said
	Scale  uint8  // of the window, of a SYN
	Scaled bool   // a window scale was said
	SACKOK bool
	// TSVal and TSEcr are RFC 7323's timestamps, where Stamped.
	TSVal, TSEcr uint32
	Stamped      bool
	// SACK are the blocks, the first SACKs of them: [left, right) of the sequence space.
	SACK  [4][2]uint32
	SACKs int
}

// ReadOptions reads a TCP header's options, as far as they make sense.
func ReadOptions(b []byte, o *Options) {
	*o = Options{}
	// What nearly every segment of a connection carries (RFC 7323, appendix A).
	if len(b) == 12 && b[0] == 1 && b[1] == 1 && b[2] == 8 && b[3] == 10 {
		o.Stamped = true
		o.TSVal, o.TSEcr = binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
		return
	}
	for len(b) > 0 {
		kind := b[0]
		if kind == 0 {
			return
		}
		if kind == 1 {
			b = b[1:]
			continue
		}
		if len(b) < 2 || b[1] < 2 || int(b[1]) > len(b) {
			return
		}
		v := b[2:b[1]]
		b = b[b[1]:]
		switch {
		case kind == 2 && len(v) == 2:
			o.MSS = binary.BigEndian.Uint16(v)
		case kind == 3 && len(v) == 1:
			o.Scale, o.Scaled = min(v[0], 14), true // RFC 7323, 2.3: more means 14
		case kind == 4 && len(v) == 0:
			o.SACKOK = true
		case kind == 5:
			for ; len(v) >= 8 && o.SACKs < len(o.SACK); v = v[8:] {
				o.SACK[o.SACKs] = [2]uint32{binary.BigEndian.Uint32(v), binary.BigEndian.Uint32(v[4:])}
				o.SACKs++
			}
		case kind == 8 && len(v) == 8:
			o.Stamped = true
			o.TSVal, o.TSEcr = binary.BigEndian.Uint32(v), binary.BigEndian.Uint32(v[4:])
		}
	}
}

// Package ts reads MPEG transport streams (ISO/IEC 13818-1) for their heads:
// where frames begin and end, when they are due, whether packets are missing. No
// payload is kept; a Demuxer is 20 KiB, whatever the stream holds.
package ts

import "encoding/binary"

// Size is a packet's, in bytes.
const Size = 188

const (
	syncByte = 0x47
	nullPID  = 0x1fff
)

// packet is a transport packet's header and adaptation field (2.4.3.2 to 2.4.3.5).
type packet struct {
	pid           uint16
	start         bool // payload_unit_start_indicator
	broken        bool // transport_error_indicator
	scrambled     bool
	counter       uint8
	discontinuity bool
	random        bool // random_access_indicator
	hasPCR        bool
	pcr           uint64 // ticks of 27 MHz
	payload       []byte // nil: none
}

// parse reads 188 bytes. ok is false where they contradict themselves.
func (p *packet) parse(b []byte) (ok bool) {
	if len(b) != Size || b[0] != syncByte {
		return false
	}
	head := binary.BigEndian.Uint32(b)
	*p = packet{
		pid:       uint16(head >> 8 & 0x1fff),
		start:     head&(1<<22) != 0,
		broken:    head&(1<<23) != 0,
		scrambled: head>>6&3 != 0,
		counter:   uint8(head & 15),
	}
	field := head >> 4 & 3
	if field == 0 {
		return false // reserved: decoders discard it
	}
	rest := b[4:]
	if field&2 != 0 {
		n := int(rest[0])
		if n > len(rest)-1 {
			return false
		}
		p.adaptation(rest[1 : 1+n])
		rest = rest[1+n:]
	}
	if field&1 != 0 && len(rest) > 0 {
		p.payload = rest
	}
	return true
}

func (p *packet) adaptation(b []byte) {
	if len(b) == 0 {
		return
	}
	p.discontinuity, p.random = b[0]&0x80 != 0, b[0]&0x40 != 0
	if b[0]&0x10 != 0 && len(b) >= 7 {
		base := uint64(binary.BigEndian.Uint32(b[1:]))<<1 | uint64(b[5]>>7)
		p.pcr, p.hasPCR = base*300+uint64(b[5]&1)<<8+uint64(b[6]), true
	}
}

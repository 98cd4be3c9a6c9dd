package rtmp

import "encoding/binary"

// maxHeader is the longest chunk header: basic 3, message 11, extended
// timestamp 4 (section 5.3.1).
const maxHeader = 18

const escape = 0xffffff // the timestamp is in the extended field (section 5.3.1.3)

// What a sender does with the extended timestamp in chunks of format 3: the
// specification wants it there (section 5.3.1.3), and some leave it out.
const (
	extUnknown = iota
	extRepeated
	extLeftOut
)

// chunkHeader is one chunk's header as it was on the wire.
type chunkHeader struct {
	format   uint8
	chunk    uint32
	field    uint32 // timestamp or delta, extended where it was
	extended bool
	length   uint32
	kind     uint8
	stream   uint32
}

// header reads a chunk's header off the front of b and returns its length; 0:
// b is too short. What a format leaves out is left 0.
func (p *Parser) header(b []byte, h *chunkHeader) int {
	if len(b) == 0 {
		return 0
	}
	h.format = b[0] >> 6
	n := 1
	switch id := b[0] & 0x3f; id { // section 5.3.1.1
	case 0:
		if len(b) < 2 {
			return 0
		}
		h.chunk, n = 64+uint32(b[1]), 2
	case 1:
		if len(b) < 3 {
			return 0
		}
		h.chunk, n = 64+uint32(b[1])+uint32(b[2])<<8, 3
	default:
		h.chunk = uint32(id)
	}
	if h.format == 3 {
		return p.repeated(b, n, h)
	}
	rest := b[n:]
	size := int([3]uint8{11, 7, 3}[h.format]) // section 5.3.1.2
	if len(rest) < size {
		return 0
	}
	h.field = uint24(rest)
	if h.format < 2 {
		h.length, h.kind = uint24(rest[3:]), rest[6]
	}
	if h.format == 0 {
		h.stream = binary.LittleEndian.Uint32(rest[7:])
	}
	n += size
	if h.field == escape {
		if len(b) < n+4 {
			return 0
		}
		h.field, h.extended = binary.BigEndian.Uint32(b[n:]), true
		n += 4
	}
	return n
}

// repeated finds the end of a header of format 3. Whether the sender repeats the
// extended timestamp is learnt from the first that could: its bytes are the same
// as before, or they are payload.
func (p *Parser) repeated(b []byte, n int, h *chunkHeader) int {
	s := p.find(h.chunk)
	if s == nil || !s.extended || p.ext == extLeftOut {
		return n
	}
	if p.ext == extUnknown {
		var want [4]byte
		binary.BigEndian.PutUint32(want[:], s.field)
		for i := range want {
			if n+i >= len(b) {
				return 0
			}
			if b[n+i] != want[i] {
				p.ext = extLeftOut
				return n
			}
		}
		p.ext = extRepeated
	}
	if len(b) < n+4 {
		return 0
	}
	return n + 4
}

func uint24(b []byte) uint32 { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }

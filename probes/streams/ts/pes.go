package ts

// pes is the head of the PES packet under way (2.4.3.6).
type pes struct {
	head [19]byte // up to PTS and DTS
	n    int
	skip int  // header bytes yet to come behind those
	left int  // bytes of the body yet to come; -1: its length is not told
	open bool // the head is read: bytes are the body's
	dead bool // it is no PES packet
	body int  // bytes of the body that came
	pts  uint64
	dts  uint64
	has  bool // there is a PTS
}

const unbounded = -1

func (p *pes) begin() { *p = pes{left: unbounded} }

// add takes a packet's payload and returns the part of it that is the body's.
// opened is true when the head was whole with it.
func (p *pes) add(b []byte) (body []byte, opened bool) {
	if p.dead {
		return nil, false
	}
	for !p.open {
		want := p.want()
		n := copy(p.head[p.n:want], b)
		p.n += n
		b = b[n:]
		if p.n < want {
			return nil, false
		}
		if p.want() > want {
			continue
		}
		if !p.read() {
			p.dead = true
			return nil, false
		}
		p.open, opened = true, true
	}
	n := min(p.skip, len(b))
	p.skip -= n
	b = b[n:]
	if p.left >= 0 {
		b = b[:min(len(b), p.left)]
		p.left -= len(b)
	}
	p.body += len(b)
	return b, opened
}

// done reports whether the body is whole, where it says its length.
func (p *pes) done() bool { return p.open && p.left == 0 }

// want is how long the part of the head is that is read.
func (p *pes) want() int {
	if p.n < 9 {
		return 9
	}
	return 9 + min(int(p.head[8]), 10)
}

func (p *pes) read() bool {
	h := p.head[:]
	if h[0] != 0 || h[1] != 0 || h[2] != 1 || h[6]>>6 != 2 {
		return false
	}
	extra := int(h[8])
	p.skip = extra - min(extra, 10)
	if n := int(h[4])<<8 | int(h[5]); n > 0 {
		if p.left = n - 3 - extra; p.left < 0 {
			return false
		}
	}
	flags := h[7] >> 6
	if flags&2 != 0 && extra >= 5 {
		p.pts, p.has = timestamp(h[9:14]), true
		p.dts = p.pts
		if flags == 3 && extra >= 10 {
			p.dts = timestamp(h[14:19])
		}
	}
	return true
}

// timestamp reads 33 bits between marker bits.
func timestamp(b []byte) uint64 {
	return uint64(b[0]>>1&7)<<30 | uint64(b[1])<<22 | uint64(b[2]>>1)<<15 | uint64(b[3])<<7 | uint64(b[4]>>1)
}

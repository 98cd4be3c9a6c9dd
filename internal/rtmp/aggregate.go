package rtmp

// aggregate is how far an aggregate message was read: FLV tags, each followed by
// its own length (section 7.1.6).
type aggregate struct {
	head   [11]byte // an FLV tag header (FLV 10.1, E.4.1)
	have   int
	part   Header
	inside bool   // the part's payload goes on
	left   uint32 // of it, or of what is passed over between parts
	offset uint32 // aggregate's timestamp less the first part's
	begun  bool
	broken bool // a part is longer than the whole: the rest is passed over
}

// aggregated takes payload up to the end of one part of an aggregate.
func (p *Parser) aggregated(s *chunkStream, b []byte) (n int, m *Message) {
	a := s.parts
	for n < len(b) && !a.broken {
		if a.left > 0 {
			k := min(len(b)-n, int(a.left))
			if a.inside {
				p.keep(s, a.part.Type, b[n:n+k])
			}
			n += k
			a.left -= uint32(k)
		} else {
			k := copy(a.head[a.have:], b[n:])
			n, a.have = n+k, a.have+k
			if a.have < len(a.head) || !p.enter(s, a, uint32(n)) {
				continue
			}
		}
		if a.inside && a.left == 0 {
			p.msg = Message{Header: a.part, Head: s.head, Relative: !s.absolute, Cut: s.cut, Aggregated: true}
			a.inside, a.left = false, 4 // the part's length, again
			return n, &p.msg
		}
	}
	return max(n, len(b)), nil
}

// enter begins a part whose header is complete; taken is how many bytes of the
// current payload lie before the part's own.
func (p *Parser) enter(s *chunkStream, a *aggregate, taken uint32) bool {
	h := a.head[:]
	a.have = 0
	stamp := uint24(h[4:]) | uint32(h[7])<<24
	if !a.begun {
		a.offset, a.begun = s.Timestamp-stamp, true
	}
	a.part = Header{Chunk: s.Chunk, Type: h[0], Stream: s.Stream, Length: uint24(h[1:]), Timestamp: stamp + a.offset}
	if a.part.Length > s.Length-s.got-taken {
		a.broken = true
		if p.Strict {
			p.bad = BadAggregate
		}
		return false
	}
	a.inside, a.left = true, a.part.Length
	s.head, s.limit = s.head[:0], limit(a.part.Type)
	return true
}

package rtmp

// State is what one chunk stream remembers; with the chunk size it is all that a
// parser needs to go on in the middle of a connection.
type State struct {
	Header          // of the last message, or of the one on its way
	Field    uint32 // ms: the last timestamp or delta, as it was sent
	Extended bool   // it was in the extended field
	First    bool   // Field is an absolute timestamp
	Absolute bool   // Header.Timestamp is: false where only deltas were seen
	Open     bool   // a message is on its way, and
	Got      uint32 // so many bytes of its payload were on the wire
}

// Reset makes the parser as new, for another connection or another guess; it
// keeps its buffers and Strict.
func (p *Parser) Reset() {
	streams := p.streams[:0]
	*p = Parser{Strict: p.Strict, size: FirstChunkSize, kept: p.kept, streams: streams}
}

// ChunkSize is the peer's chunk size, bytes.
func (p *Parser) ChunkSize() uint32 { return p.size }

// SetChunkSize is for a parser that did not see the peer set it. It holds from
// the next chunk on.
func (p *Parser) SetChunkSize(n uint32) error {
	if n == 0 || n > MaxChunkSize {
		return BadChunkSize
	}
	p.size = n
	return nil
}

// Seed gives the parser a chunk stream that it did not see the beginning of. The
// next byte that Next gets must be the first of a chunk.
func (p *Parser) Seed(st State) error {
	if p.inside || p.parts > 0 {
		return Unfinished
	}
	s := p.find(st.Chunk)
	if s == nil {
		if s = p.add(st.Chunk); s == nil {
			return TooManyStreams
		}
	}
	s.Header, s.field, s.extended, s.first, s.absolute = st.Header, st.Field, st.Extended, st.First, st.Absolute
	p.reset(s)
	s.open = st.Open && st.Got < st.Length
	if s.open && st.Got > 0 {
		s.got, s.cut, s.limit = st.Got, true, 0
		if s.Type == TypeAggregate {
			s.parts.broken = true
		}
	}
	return nil
}

// States appends what the parser knows of each chunk stream.
func (p *Parser) States(to []State) []State {
	for i := range p.streams {
		s := &p.streams[i]
		to = append(to, State{s.Header, s.field, s.extended, s.first, s.absolute, s.open, s.got})
	}
	return to
}

// Left is how much payload the current chunk still has: so many bytes may be
// missing without harm.
func (p *Parser) Left() uint32 {
	if p.parts > 0 || len(p.again) > 0 {
		return 0
	}
	return p.left
}

// Skip passes over n bytes that were on the wire and that the caller does not
// have (a capture that cut them off). It takes no more than Left, and returns how
// many it took.
func (p *Parser) Skip(n int) (int, *Message) {
	n = min(n, int(p.Left()))
	if n <= 0 || p.bad != 0 {
		return 0, nil
	}
	s := &p.streams[p.cur]
	switch {
	case s.Type == TypeAggregate:
		s.parts.broken = true
	case len(s.head) < s.limit:
		s.limit, s.cut = len(s.head), true
	}
	p.taken += uint64(n)
	return n, p.pass(s, uint32(n))
}

package rtmp

import "encoding/binary"

// Parser turns the bytes of one direction of a connection, after the handshake,
// into messages. It holds no payload but their heads, does no I/O, and allocates
// nothing once each chunk stream was seen. Set chunk size and abort are obeyed
// inside; they are also given out, as all messages are.
type Parser struct {
	// Strict refuses what real peers are not seen to send, for those who search
	// for the beginning of a chunk in the middle of a connection.
	Strict bool
	Keys   Wanting // of key pictures
	Sounds Wanting // of audio

	size    uint32 // of the peer's chunks
	ext     uint8
	bad     Impossible
	taken   uint64
	inside  bool   // a chunk's header was read and its payload goes on
	left    uint32 // payload that this chunk still has
	cur     int    // its chunk stream, an index into streams
	kept    int    // capacity of all heads
	streams []chunkStream
	index   [64]uint8 // chunk stream id to index into streams, plus 1; larger ids are searched for

	part  [maxHeader + 4]byte // a header that came in pieces
	parts int
	back  [4]byte // bytes of part that were payload after all
	again []byte

	msg Message
}

// chunkStream is what is remembered from chunk to chunk (section 5.3).
type chunkStream struct {
	Header
	field    uint32 // the last timestamp or delta, as it was sent
	extended bool
	first    bool // field is an absolute timestamp: no delta came yet
	absolute bool // Timestamp is; else it counts from 0
	open     bool // a message is on its way
	cut      bool
	got      uint32
	limit    int // of head
	head     []byte
	keeps    bool // all of the message is kept, in whole
	whole    []byte
	parts    *aggregate
}

// NewParser makes a parser for a direction that begins after the handshake.
func NewParser() *Parser { return &Parser{size: FirstChunkSize} }

// Offset is how many bytes the parser took since Reset.
func (p *Parser) Offset() uint64 { return p.taken }

// Next takes bytes of b up to the end of one message. n is how many it took: all
// of them where m is nil. m is good until the next call. An error is an
// Impossible.
func (p *Parser) Next(b []byte) (n int, m *Message, err error) {
	for p.bad == 0 {
		var k int
		if src := p.again; len(src) > 0 {
			p.again = nil
			if k, m = p.next(src); len(p.again) == 0 {
				p.again = src[k:]
			}
		} else {
			k, m = p.next(b[n:])
			n += k
			p.taken += uint64(k)
		}
		if m != nil && p.bad == 0 {
			return n, m, nil
		}
		if len(p.again) == 0 && n == len(b) {
			break
		}
	}
	if p.bad != 0 {
		return n, nil, p.bad
	}
	return n, nil, nil
}

func (p *Parser) next(b []byte) (n int, m *Message) {
	for n < len(b) {
		if !p.inside {
			k, ok := p.start(b[n:])
			n += k
			if !ok {
				return n, nil
			}
		}
		s := &p.streams[p.cur]
		k := min(len(b)-n, int(p.left))
		if s.Type == TypeAggregate {
			k, m = p.aggregated(s, b[n:n+k])
		} else {
			p.keep(s, s.Type, b[n:n+k])
			p.keepWhole(s, b[n:n+k])
		}
		n += k
		if whole := p.pass(s, uint32(k)); m == nil {
			m = whole
		}
		if m != nil || p.bad != 0 {
			return n, m
		}
	}
	return n, nil
}

// pass counts k bytes of payload and returns the message if they end it.
func (p *Parser) pass(s *chunkStream, k uint32) *Message {
	p.left -= k
	p.inside = p.left > 0
	s.got += k
	if s.got < s.Length {
		return nil
	}
	s.open = false
	if s.Type == TypeAggregate {
		return nil // its parts were given out
	}
	p.msg = Message{Header: s.Header, Head: s.head, Relative: !s.absolute, Cut: s.cut, Whole: s.takeWhole()}
	if s.Type == TypeSetChunkSize || s.Type == TypeAbort {
		p.obey(&p.msg)
	}
	return &p.msg
}

// start reads a chunk's header; ok is false when b ends before it does, or when
// it is impossible.
func (p *Parser) start(b []byte) (n int, ok bool) {
	var h chunkHeader
	if p.parts == 0 {
		if n = p.header(b, &h); n > 0 {
			return n, p.begin(&h)
		}
	}
	for n < len(b) && p.parts < len(p.part) {
		p.part[p.parts] = b[n]
		n, p.parts = n+1, p.parts+1
		h = chunkHeader{}
		if k := p.header(p.part[:p.parts], &h); k > 0 {
			if p.parts > k {
				p.again = p.back[:copy(p.back[:], p.part[k:p.parts])]
			}
			p.parts = 0
			return n, p.begin(&h) && len(p.again) == 0
		}
	}
	return n, false
}

// begin applies a chunk's header to its chunk stream.
func (p *Parser) begin(h *chunkHeader) bool {
	s := p.find(h.chunk)
	if s == nil {
		// A first chunk of format 1 lacks only the message stream and the time's
		// origin: librtmp begins its control messages so.
		if h.format > 1 {
			return p.refuse(NoHeader)
		}
		if s = p.add(h.chunk); s == nil {
			return p.refuse(TooManyStreams)
		}
	}
	if h.format < 3 && s.open {
		if p.Strict {
			return p.refuse(Unfinished)
		}
		s.open = false // what came of it is dropped, as players do
	}
	if !s.open {
		s.apply(h)
		if why := p.check(s); why != 0 {
			return p.refuse(why)
		}
		p.reset(s)
	}
	p.left, p.inside = min(p.size, s.Length-s.got), true
	return true
}

// farthest is the longest delta that is believed of a chunk of format 3 after
// one of format 0. The specification wants the timestamp itself to be the delta
// (section 5.3.1.2.4), and ffmpeg does so for the first frames; librtmp and
// nginx-rtmp mean "the same timestamp".
const farthest = 10_000 // ms

func (s *chunkStream) apply(h *chunkHeader) {
	switch h.format {
	case 0:
		s.Stream, s.Timestamp, s.absolute = h.stream, h.field, true
	case 1, 2:
		s.Timestamp += h.field
	case 3:
		if !s.first || s.field <= farthest {
			s.Timestamp += s.field
		}
		return
	}
	s.field, s.extended, s.first = h.field, h.extended, h.format == 0
	if h.format < 2 {
		s.Length, s.Type = h.length, h.kind
	}
}

// reset makes a chunk stream ready for a new message.
func (p *Parser) reset(s *chunkStream) {
	s.open, s.got, s.cut, s.limit = true, 0, false, limit(s.Type)
	if cap(s.head) > MaxConfig {
		p.kept -= cap(s.head)
		s.head = nil
	}
	s.head = s.head[:0]
	if s.Type == TypeAggregate {
		if s.parts == nil {
			s.parts = new(aggregate)
		}
		*s.parts = aggregate{}
	}
}

func (p *Parser) refuse(why Impossible) bool {
	p.bad = why
	return false
}

// check judges a message by its header.
func (p *Parser) check(s *chunkStream) Impossible {
	var ok bool
	switch s.Type {
	case TypeSetChunkSize, TypeAbort, TypeAck, TypeWindowAckSize:
		ok = s.Length >= 4 && s.Length <= Keep && (!p.Strict || s.Length == 4)
	case TypePeerBandwidth:
		ok = s.Length >= 4 && s.Length <= Keep && (!p.Strict || s.Length <= 5)
	case TypeUserControl:
		ok = s.Length >= 2 && (!p.Strict || s.Length >= 6 && s.Length <= Keep)
	case TypeAudio, TypeVideo, TypeDataAMF3, TypeSharedObjectAMF3, TypeCommandAMF3,
		TypeDataAMF0, TypeSharedObjectAMF0, TypeCommandAMF0, TypeAggregate:
		return 0
	default:
		if p.Strict {
			return UnknownType
		}
		return 0
	}
	if !ok {
		return BadControl
	}
	if p.Strict && s.Stream != 0 {
		return BadControlStream
	}
	return 0
}

// obey does what a message asks of the parser (sections 5.4.1 and 5.4.2).
func (p *Parser) obey(m *Message) {
	if len(m.Head) < 4 {
		return // skipped over
	}
	v := binary.BigEndian.Uint32(m.Head)
	if m.Type == TypeAbort {
		if s := p.find(v); s != nil {
			s.open = false
		}
		return
	}
	if p.SetChunkSize(v) != nil {
		p.bad = BadChunkSize
	}
}

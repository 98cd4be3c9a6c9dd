package rtmp

// limit is how much of a message's payload is kept.
func limit(kind uint8) int {
	switch kind {
	case TypeCommandAMF0, TypeCommandAMF3, TypeDataAMF0, TypeDataAMF3:
		return MaxCommand
	case TypeSharedObjectAMF0, TypeSharedObjectAMF3, TypeAggregate:
		return 0
	}
	return Keep
}

// keep appends what of b belongs to the message's head.
func (p *Parser) keep(s *chunkStream, kind uint8, b []byte) {
	if len(s.head) >= s.limit {
		return
	}
	n := min(s.limit-len(s.head), len(b))
	p.append(s, b[:n])
	if s.limit == Keep && isConfig(kind, s.head) {
		s.limit = MaxConfig
		p.append(s, b[n:min(len(b), n+MaxConfig-len(s.head))])
	}
}

// append grows a head within what a connection may hold. It grows with what came,
// never with what a header promised.
func (p *Parser) append(s *chunkStream, b []byte) {
	if len(s.head)+len(b) > cap(s.head) {
		size := max(Keep, 2*cap(s.head), len(s.head)+len(b))
		if p.kept+size-cap(s.head) > MaxKept {
			s.limit = len(s.head)
			return
		}
		p.kept += size - cap(s.head)
		s.head = append(make([]byte, 0, size), s.head...)
	}
	s.head = append(s.head, b...)
}

// isConfig tells a message whose head has to be kept longer: a sequence header,
// or one that hides its kind behind extensions. Legacy tags have the packet type
// in the second byte (FLV 10.1, E.4.2.2 and E.4.3.1); enhanced ones in the first
// (Enhanced RTMP v2, "Enhanced Video", "Enhanced Audio").
func isConfig(kind uint8, head []byte) bool {
	if len(head) < 2 {
		return false
	}
	switch kind {
	case TypeVideo:
		if head[0]&0x80 != 0 {
			t := head[0] & 0x0f
			return t == 0 || t >= 5
		}
		return head[0]&0x0f >= 7 && head[1] == 0
	case TypeAudio:
		switch head[0] >> 4 {
		case 9:
			return head[0]&0x0f == 0 || head[0]&0x0f >= 4
		case 10:
			return head[1] == 0
		}
	}
	return false
}

// find returns the state of a chunk stream and makes it the current one; nil for
// one that was not seen.
func (p *Parser) find(id uint32) *chunkStream {
	if id < uint32(len(p.index)) {
		if i := p.index[id]; i > 0 {
			p.cur = int(i) - 1
			return &p.streams[p.cur]
		}
		return nil
	}
	for i := range p.streams {
		if p.streams[i].Chunk == id {
			p.cur = i
			return &p.streams[i]
		}
	}
	return nil
}

func (p *Parser) add(id uint32) *chunkStream {
	if len(p.streams) >= MaxChunkStreams {
		return nil
	}
	if n := len(p.streams); n < cap(p.streams) {
		p.streams = p.streams[:n+1] // a head that Reset left is used again
		p.streams[n] = chunkStream{head: p.streams[n].head[:0], parts: p.streams[n].parts}
	} else {
		p.streams = append(p.streams, chunkStream{})
	}
	p.cur = len(p.streams) - 1
	s := &p.streams[p.cur]
	s.Chunk = id
	if id < uint32(len(p.index)) {
		p.index[id] = uint8(len(p.streams))
	}
	return s
}

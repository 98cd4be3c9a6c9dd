package rtmp

// Wanting is who wants messages whole.
type Wanting struct {
	// By is asked as a message begins; nil: nobody wants any.
	By   interface{ Wanted() bool }
	Most uint32 // bytes: larger ones are not kept
}

func (w Wanting) want(length uint32) bool { return w.By != nil && length <= w.Most && w.By.Wanted() }

// keepWhole keeps all of a key picture or of audio where somebody wants it. It grows with what came, never with
// what a header promised.
func (p *Parser) keepWhole(s *chunkStream, b []byte) {
	if s.got == 0 && len(b) > 0 {
		s.whole = nil
		if s.keeps = p.wants(s, b[0]); s.keeps {
			p.only(s)
		}
	}
	if s.keeps {
		s.whole = append(s.whole, b...)
	}
}

// wants tells by a message's first byte whether all of it is wanted.
func (p *Parser) wants(s *chunkStream, first byte) bool {
	switch s.Type {
	case TypeVideo:
		return first>>4&7 == 1 && p.Keys.want(s.Length)
	case TypeAudio:
		return p.Sounds.want(s.Length)
	}
	return false
}

// only keeps nothing of others than s that are of its kind: a server may begin as many messages as it
// has chunk streams.
func (p *Parser) only(s *chunkStream) {
	for i := range p.streams {
		if o := &p.streams[i]; o != s && o.Type == s.Type {
			o.keeps, o.whole = false, nil
		}
	}
}

// takeWhole gives what was kept of the message that ends, and forgets it.
func (s *chunkStream) takeWhole() []byte {
	b := s.whole
	s.whole = nil
	if !s.keeps || s.cut || len(b) != int(s.Length) {
		return nil
	}
	return b
}

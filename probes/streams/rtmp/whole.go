package rtmp

import (
	"snag/probes/streams/codec"
	"snag/probes/streams/flv"
	"snag/probes/streams/stream"
)

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
		return p.Keys != nil && first>>4&7 == 1 && s.Length <= stream.MostKey && p.Keys.Wanted()
	case TypeAudio:
		return p.Sounds != nil && s.Length <= stream.MostSound && p.Sounds.Wanted()
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

// sets are a sequence header's parameter sets as a byte stream, and how long a unit's length is.
type sets struct {
	bytes  []byte
	length int
}

// whole hands on a key picture that was kept whole.
func (d *Media) whole(m *Message, at int64) {
	if m.Whole == nil || d.Keys == nil || d.sets.length == 0 {
		return
	}
	tag, ok := flv.Video(m.Whole, len(m.Whole))
	if !ok || !tag.Frame || !tag.Key || tag.Codec != codec.H264 && tag.Codec != codec.HEVC {
		return
	}
	if b := codec.ByteStream(d.sets.bytes, tag.Body, d.sets.length); b != nil {
		d.Keys.Key(tag.Codec, b, at)
	}
}

// remember keeps the parameter sets of a sequence header.
func (d *Media) remember(tag flv.Tag) {
	if tag.Kind == stream.Audio {
		d.rememberAudio(tag)
		return
	}
	if d.Keys == nil {
		return
	}
	d.sets = sets{}
	if b, length, err := codec.Sets(tag.Codec, tag.Body); err == nil {
		d.sets = sets{b, length}
	}
}

package rtmp

import "encoding/binary"

// Chunk streams that snag sends on, as Flash players did: protocol control is on 2
// (section 5.4), the rest is free.
const (
	controlChunk = 2
	commandChunk = 3
	playChunk    = 8
)

// window is what snag offers as its acknowledgement window, bytes; the size that
// Flash players and librtmp offer.
const window = 2_500_000

// send appends a message to what goes out.
func (s *session) send(chunk uint32, kind uint8, stream uint32, body []byte) {
	s.out = AppendMessage(s.out, Header{Chunk: chunk, Type: kind, Stream: stream}, FirstChunkSize, body)
}

func (s *session) sendNumber(kind uint8, v uint32) {
	s.send(controlChunk, kind, 0, binary.BigEndian.AppendUint32(nil, v))
}

func (s *session) sendEvent(event uint16, values ...uint32) {
	b := binary.BigEndian.AppendUint16(nil, event)
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	s.send(controlChunk, TypeUserControl, 0, b)
}

// control answers the server's protocol (sections 5.4.3 to 5.4.5, 7.1.7).
func (s *session) control(m *Message) error {
	b := m.Head
	if len(b) < 4 {
		return nil
	}
	v := binary.BigEndian.Uint32(b)
	switch m.Type {
	case TypeWindowAckSize:
		s.ackEvery = v
	case TypePeerBandwidth:
		if v != s.bandwidth { // once for each that differs
			s.bandwidth = v
			s.sendNumber(TypeWindowAckSize, v)
		}
	case TypeUserControl:
		if len(b) < 6 {
			return nil
		}
		switch v = binary.BigEndian.Uint32(b[2:]); binary.BigEndian.Uint16(b) {
		case EventPingRequest:
			s.sendEvent(EventPingResponse, v)
		case EventStreamEOF:
			if s.published {
				return s.ended("Stream EOF")
			}
		}
	}
	return nil
}

// acknowledge says how much came, at each half of the server's window, as ffmpeg
// does: a server may stop at a whole one.
func (s *session) acknowledge() {
	if got := s.in.Offset(); s.ackEvery > 0 && got-s.acked >= uint64(s.ackEvery/2) {
		s.acked = got
		s.sendNumber(TypeAck, uint32(got))
	}
}

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
func (c *Client) send(chunk uint32, kind uint8, stream uint32, body []byte) {
	c.Out = AppendMessage(c.Out, Header{Chunk: chunk, Type: kind, Stream: stream}, c.size, body)
}

func (c *Client) sendNumber(kind uint8, v uint32) {
	c.send(controlChunk, kind, 0, binary.BigEndian.AppendUint32(nil, v))
}

func (c *Client) sendEvent(event uint16, values ...uint32) {
	b := binary.BigEndian.AppendUint16(nil, event)
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	c.send(controlChunk, TypeUserControl, 0, b)
}

// control answers the server's protocol (sections 5.4.3 to 5.4.5, 7.1.7).
func (c *Client) control(m *Message) error {
	b := m.Head
	if len(b) < 4 {
		return nil
	}
	v := binary.BigEndian.Uint32(b)
	switch m.Type {
	case TypeWindowAckSize:
		c.ackEvery = v
	case TypePeerBandwidth:
		if v != c.bandwidth { // once for each that differs
			c.bandwidth = v
			c.sendNumber(TypeWindowAckSize, v)
		}
	case TypeUserControl:
		if len(b) < 6 {
			return nil
		}
		switch v = binary.BigEndian.Uint32(b[2:]); binary.BigEndian.Uint16(b) {
		case EventPingRequest:
			c.sendEvent(EventPingResponse, v)
		case EventStreamEOF:
			if c.Published {
				return &Ended{"Stream EOF"}
			}
		}
	}
	return nil
}

// acknowledge says how much came, at each half of the server's window, as ffmpeg
// does: a server may stop at a whole one.
func (c *Client) acknowledge() {
	if got := c.In.Offset(); c.ackEvery > 0 && got-c.acked >= uint64(c.ackEvery/2) {
		c.acked = got
		c.sendNumber(TypeAck, uint32(got))
	}
}

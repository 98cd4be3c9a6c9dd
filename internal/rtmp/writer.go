package rtmp

import "encoding/binary"

// AppendMessage appends a message as chunks of the given size to b, on a chunk
// stream below 64, always with a full header: what snag sends is little.
func AppendMessage(b []byte, h Header, size int, body []byte) []byte {
	stamp := min(h.Timestamp, escape)
	b = append(b, byte(h.Chunk&0x3f), byte(stamp>>16), byte(stamp>>8), byte(stamp),
		byte(len(body)>>16), byte(len(body)>>8), byte(len(body)), h.Type)
	b = binary.LittleEndian.AppendUint32(b, h.Stream)
	if stamp == escape {
		b = binary.BigEndian.AppendUint32(b, h.Timestamp)
	}
	for len(body) > size {
		b = append(b, body[:size]...)
		body = body[size:]
		b = append(b, 0xc0|byte(h.Chunk&0x3f))
		if stamp == escape {
			b = binary.BigEndian.AppendUint32(b, h.Timestamp)
		}
	}
	return append(b, body...)
}

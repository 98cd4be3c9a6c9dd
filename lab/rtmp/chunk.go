package rtmp

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// Message types of RTMP 1.0 (sections 5.4 and 7.1) that a player meets.
const (
	typeSetChunkSize = 1
	typeUserControl  = 4
	typeCommand      = 20 // AMF0
)

const (
	firstChunkSize = 128     // until the peer says otherwise (section 5.4.1)
	maxMessage     = 1 << 20 // a player here gets at most a key frame of a small test picture
	maxStreams     = 64      // chunk streams that we keep state for
)

type message struct {
	kind   byte
	stream uint32
	body   []byte
}

// header is what a chunk stream remembers from chunk to chunk.
type header struct {
	length   int
	kind     byte
	stream   uint32
	extended bool
	body     []byte
}

// chunks puts messages together from the chunks of a connection.
type chunks struct {
	r    *bufio.Reader
	size int
	by   map[int]*header
}

func newChunks(r io.Reader) *chunks {
	return &chunks{r: bufio.NewReaderSize(r, 8<<10), size: firstChunkSize, by: map[int]*header{}}
}

// next returns the next whole message. The peer's SetChunkSize is obeyed here.
func (c *chunks) next() (message, error) {
	for {
		m, whole, err := c.chunk()
		if err != nil {
			return message{}, err
		}
		if !whole {
			continue
		}
		if m.kind == typeSetChunkSize && len(m.body) >= 4 {
			size := binary.BigEndian.Uint32(m.body)
			if size < 1 || size > 0x7fffffff {
				return message{}, fmt.Errorf("rtmp: the peer set a chunk size of %d", size)
			}
			c.size = int(min(size, maxMessage))
		}
		return m, nil
	}
}

func (c *chunks) chunk() (message, bool, error) {
	first, err := c.r.ReadByte()
	if err != nil {
		return message{}, false, err
	}
	id, err := c.streamID(int(first & 0x3f))
	if err != nil {
		return message{}, false, err
	}
	h := c.by[id]
	if h == nil {
		if len(c.by) >= maxStreams {
			return message{}, false, fmt.Errorf("rtmp: more than %d chunk streams", maxStreams)
		}
		h = &header{}
		c.by[id] = h
	}
	if err := c.messageHeader(first>>6, h); err != nil {
		return message{}, false, err
	}
	n := min(c.size, h.length-len(h.body))
	old := len(h.body)
	h.body = append(h.body, make([]byte, n)...)
	if _, err := io.ReadFull(c.r, h.body[old:]); err != nil {
		return message{}, false, err
	}
	if len(h.body) < h.length {
		return message{}, false, nil
	}
	m := message{h.kind, h.stream, h.body}
	h.body = nil
	return m, true, nil
}

// streamID reads the 1-, 2- or 3-byte basic header (section 5.3.1.1).
func (c *chunks) streamID(low int) (int, error) {
	switch low {
	case 0:
		b, err := c.r.ReadByte()
		return 64 + int(b), err
	case 1:
		var b [2]byte
		_, err := io.ReadFull(c.r, b[:])
		return 64 + int(b[0]) + int(b[1])<<8, err
	}
	return low, nil
}

// messageHeader reads the header of format 0 to 3 (section 5.3.1.2). Times are
// skipped: nothing here plays.
func (c *chunks) messageHeader(format byte, h *header) error {
	var b [11]byte
	n := [4]int{11, 7, 3, 0}[format]
	if _, err := io.ReadFull(c.r, b[:n]); err != nil {
		return err
	}
	if format < 3 {
		h.extended = b[0] == 0xff && b[1] == 0xff && b[2] == 0xff
	}
	if format < 2 {
		if len(h.body) > 0 {
			return fmt.Errorf("rtmp: a new message began before the last one ended")
		}
		h.length = int(b[3])<<16 | int(b[4])<<8 | int(b[5])
		h.kind = b[6]
		if h.length > maxMessage {
			return fmt.Errorf("rtmp: a message of %d bytes, more than %d", h.length, maxMessage)
		}
	}
	if format == 0 {
		h.stream = binary.LittleEndian.Uint32(b[7:])
	}
	if h.extended {
		if _, err := c.r.Discard(4); err != nil {
			return err
		}
	}
	return nil
}

// appendMessage encodes a message as chunks of the first chunk size, on a chunk
// stream below 64.
func appendMessage(b []byte, chunkStream byte, kind byte, stream uint32, body []byte) []byte {
	b = append(b, chunkStream, 0, 0, 0, byte(len(body)>>16), byte(len(body)>>8), byte(len(body)), kind)
	b = binary.LittleEndian.AppendUint32(b, stream)
	for len(body) > firstChunkSize {
		b = append(b, body[:firstChunkSize]...)
		body = body[firstChunkSize:]
		b = append(b, 0xc0|chunkStream) // format 3: the same header goes on
	}
	return append(b, body...)
}

package rtmp

import (
	"fmt"

	"snag/internal/amf"
)

// Phase is how far a client has come.
type Phase uint8

// Phases.
const (
	Connecting Phase = iota // connect was sent
	Creating                // createStream was sent
	Asking                  // play or publish was sent
	Playing                 // the server said yes, or sends
)

// Client is the client's side after the handshake. It does no I/O: bytes come in by Feed, what has to go
// out is appended to Out.
type Client struct {
	In     *Parser
	Out    []byte
	Phase  Phase
	Stream uint32 // message stream id, from Asking on
	// Published says that the stream is there: its first message came, or a notice of it.
	Published bool

	to        Target
	hears     Listener // nil: it publishes
	size      int      // of the chunks that go out
	ackEvery  uint32
	acked     uint64
	bandwidth uint32
}

// Listener takes what a player gets.
type Listener interface {
	// Appeared is called once, before the stream's first message.
	Appeared(at int64)
	// Media takes audio, video and metadata, and reports whether it belongs to a stream that is there.
	Media(m *Message, at int64) bool
}

// NewPlayer begins a client that plays to.Name.
func NewPlayer(to Target, hears Listener) *Client {
	c := &Client{to: to, In: NewParser(), hears: hears, size: FirstChunkSize}
	c.command(commandChunk, 0, "connect", transactionConnect, append(c.application(), amf.Object{
		{Name: "fpad", Value: false},
		{Name: "capabilities", Value: 15},
		{Name: "audioCodecs", Value: 4071},
		{Name: "videoCodecs", Value: 252},
		{Name: "videoFunction", Value: 1},
		// Enhanced RTMP v2, "Enhancing NetConnection connect Command": without it
		// a server may keep HEVC, AV1 and Opus back. 14: multitrack, ModEx, nanoseconds.
		{Name: "fourCcList", Value: amf.Array{"av01", "vp09", "hvc1", "avc1", "Opus", "mp4a", ".mp3", "fLaC", "ac-3", "ec-3"}},
		{Name: "capsEx", Value: 14},
	}...))
	return c
}

// NewPublisher begins a client that publishes to.Name. Its messages go out with Publish, once it is Playing.
func NewPublisher(to Target) *Client {
	c := &Client{to: to, In: NewParser(), size: FirstChunkSize}
	c.command(commandChunk, 0, "connect", transactionConnect, append(amf.Object{{Name: "type", Value: "nonprivate"}}, c.application()...))
	return c
}

func (c *Client) application() amf.Object {
	return amf.Object{
		{Name: "app", Value: c.to.App},
		{Name: "flashVer", Value: "LNX 9,0,124,2"}, // as librtmp and ffmpeg say: some servers want a player they know
		{Name: "tcUrl", Value: c.to.TCURL},
	}
}

func (c *Client) command(chunk, messageStream uint32, values ...any) {
	c.send(chunk, TypeCommandAMF0, messageStream, amf.Append(nil, values...))
}

// Feed takes bytes of the server that were read at at (monotonic ns). An error is the end: a *Refused, an
// *Ended, or bytes that are not RTMP.
func (c *Client) Feed(b []byte, at int64) error {
	for len(b) > 0 {
		n, m, err := c.In.Next(b)
		if err != nil {
			return fmt.Errorf("after %d bytes the server sent what is not RTMP: %w", c.In.Offset(), err)
		}
		b = b[n:]
		if m == nil {
			break
		}
		if err := c.message(m, at); err != nil {
			return err
		}
	}
	c.acknowledge()
	return nil
}

func (c *Client) message(m *Message, at int64) error {
	switch m.Type {
	case TypeWindowAckSize, TypePeerBandwidth, TypeUserControl:
		return c.control(m)
	case TypeCommandAMF0, TypeCommandAMF3:
		values, err := amf.Decode(m.Body())
		if len(values) == 0 && err != nil {
			return fmt.Errorf("a command of the server is unreadable: %w", err)
		}
		return c.answer(values, at)
	case TypeAudio, TypeVideo, TypeDataAMF0, TypeDataAMF3:
		if c.Phase < Asking || c.hears == nil {
			return nil // nobody asked for it yet
		}
		// The listener hears of the stream before its first frame: an empty tag, as
		// servers send to end a sequence, is no stream.
		if !c.Published && (m.Type == TypeAudio || m.Type == TypeVideo) && m.Length > 0 {
			c.appear(at)
		}
		if c.hears.Media(m, at) {
			c.appear(at)
		}
	}
	return nil
}

// appear tells the listener, once, that the stream is there.
func (c *Client) appear(at int64) {
	c.Phase = Playing
	if !c.Published {
		c.Published = true
		if c.hears != nil {
			c.hears.Appeared(at)
		}
	}
}

// Body is a command's or data message's AMF0. Those of the AMF3 types begin with
// a byte 0 and are AMF0 that may switch to AMF3 inside.
func (m *Message) Body() []byte {
	b := m.Head
	if (m.Type == TypeCommandAMF3 || m.Type == TypeDataAMF3) && len(b) > 0 && b[0] == 0 {
		b = b[1:]
	}
	return b
}

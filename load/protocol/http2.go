package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/net/http2/hpack"
)

// HTTP2 is HTTP/2 (RFC 9113) without a change of protocol: over TLS by ALPN, else at once ("prior
// knowledge"). One request is open on each connection.
type HTTP2 struct {
	headers []byte // a block of HPACK that changes no dynamic table: the same for each request
	body    []byte
	// failed says whether an answer is an error.
	failed func(about map[string]string) bool
}

// NewHTTP2 asks for a resource. Headers are those of the request, the pseudo headers first, as
// pairs of name and value.
func NewHTTP2(headers [][2]string, body []byte) *HTTP2 {
	return &HTTP2{headers: block(headers), body: body, failed: func(about map[string]string) bool {
		status := about[":status"]
		return status >= "500" || status == "429"
	}}
}

func block(headers [][2]string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	e.SetMaxDynamicTableSize(0)
	for _, h := range headers {
		_ = e.WriteField(hpack.HeaderField{Name: h[0], Value: h[1], Sensitive: h[0] == "authorization"}) // a Buffer takes all
	}
	return b.Bytes()
}

// Frames (RFC 9113, 6).
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	frameReset        = 0x3
	frameSettings     = 0x4
	framePing         = 0x6
	frameGoAway       = 0x7
	frameWindow       = 0x8
	frameContinuation = 0x9

	flagAck        = 0x1
	flagEndStream  = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20

	preface        = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frameHead      = 9
	mostFrame      = 16 << 10 // SETTINGS_MAX_FRAME_SIZE as it is unless changed
	firstWindow    = 65535
	mostWindow     = 1<<31 - 1
	settingWindow  = 4 // SETTINGS_INITIAL_WINDOW_SIZE
	settingPush    = 2 // SETTINGS_ENABLE_PUSH
	settingTable   = 1 // SETTINGS_HEADER_TABLE_SIZE
	windowIsLow    = 1 << 30
	mostHeaderList = 256 << 10
)

func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	b := make([]byte, frameHead, frameHead+len(payload))
	b[0], b[1], b[2] = byte(len(payload)>>16), byte(len(payload)>>8), byte(len(payload))
	b[3], b[4] = kind, flags
	binary.BigEndian.PutUint32(b[5:], stream)
	return append(b, payload...)
}

func setting(id uint16, value uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(nil, id), value)
}

// New implements Protocol.
func (p *HTTP2) New() Conversation {
	c := &http2Client{p: p, sendConn: firstWindow, firstStream: firstWindow, receive: mostWindow}
	c.frames.each = c.take
	c.hpack = hpack.NewDecoder(4096, func(f hpack.HeaderField) { c.about[f.Name] = f.Value })
	c.hpack.SetMaxStringLength(mostHeaderList)
	return c
}

type http2Client struct {
	p         *HTTP2
	frames    frames
	hpack     *hpack.Decoder
	about     map[string]string // the headers and trailers of the open answer
	block     []byte            // of headers that are not complete yet
	blockEnds bool              // the stream ends with it
	stream    uint32            // of the open request
	reply     []byte
	rest      []byte // of the body, that no window has room for yet
	got       Got

	sendConn, sendStream, firstStream int64
	receive                           int64 // what is left of the window that this side gave to the connection
}

// Ask implements Conversation. Bytes of a body that the windows have no room for are sent later.
func (c *http2Client) Ask(int64) [][]byte {
	var out []byte
	if c.stream == 0 {
		out = append(out, preface...)
		out = append(out, frame(frameSettings, 0, 0, append(setting(settingPush, 0), setting(settingWindow, mostWindow)...))...)
		out = append(out, windowBy(0, mostWindow-firstWindow)...)
		c.stream = 1
	} else {
		c.stream += 2
	}
	c.about, c.sendStream, c.rest = map[string]string{}, c.firstStream, c.p.body
	flags := byte(flagEndHeaders)
	if len(c.p.body) == 0 {
		flags |= flagEndStream
	}
	out = append(out, frame(frameHeaders, flags, c.stream, c.p.headers)...)
	return [][]byte{append(out, c.more()...)}
}

// more is as much of the body as may be sent.
func (c *http2Client) more() (out []byte) {
	for len(c.rest) > 0 {
		n := min(int64(len(c.rest)), mostFrame, c.sendConn, c.sendStream)
		if n <= 0 {
			return out
		}
		flags := byte(0)
		if int(n) == len(c.rest) {
			flags = flagEndStream
		}
		out = append(out, frame(frameData, flags, c.stream, c.rest[:n])...)
		c.rest, c.sendConn, c.sendStream = c.rest[n:], c.sendConn-n, c.sendStream-n
	}
	return out
}

func windowBy(stream uint32, n int64) []byte {
	return frame(frameWindow, 0, stream, binary.BigEndian.AppendUint32(nil, uint32(n)))
}

// Reply implements Replier. Nothing is said before the preface, which comes with the first request.
func (c *http2Client) Reply() []byte {
	if c.stream == 0 {
		return nil
	}
	out := c.reply
	c.reply = nil
	return out
}

// Read implements Conversation.
func (c *http2Client) Read(b []byte) (Got, error) {
	c.got = Got{}
	err := c.frames.read(b)
	return c.got, err
}

// ErrGoing is not an error of the protocol: the connection ends after this answer.
var ErrGoing = errors.New("the server ends the connection (GOAWAY)")

func (c *http2Client) take(kind, flags byte, stream uint32, payload []byte) error {
	switch kind {
	case frameSettings:
		if flags&flagAck == 0 {
			c.reply = append(c.reply, frame(frameSettings, flagAck, 0, nil)...)
			return c.settings(payload)
		}
	case framePing:
		if flags&flagAck == 0 {
			c.reply = append(c.reply, frame(framePing, flagAck, 0, payload)...)
		}
	case frameWindow:
		if len(payload) != 4 {
			return errors.New("a WINDOW_UPDATE frame of HTTP/2 has the wrong size")
		}
		n := int64(binary.BigEndian.Uint32(payload) & mostWindow)
		switch stream {
		case 0:
			c.sendConn += n
		case c.stream:
			c.sendStream += n
		}
		c.reply = append(c.reply, c.more()...)
	case frameGoAway:
		return ErrGoing
	case frameData:
		return c.data(flags, stream, payload)
	case frameReset:
		if stream == c.stream {
			c.rest = nil
			c.got.Done++
			c.got.Failed++
		}
	case frameHeaders, frameContinuation:
		return c.header(kind, flags, stream, payload)
	}
	return nil
}

func (c *http2Client) settings(b []byte) error {
	for ; len(b) >= 6; b = b[6:] {
		value := binary.BigEndian.Uint32(b[2:])
		switch binary.BigEndian.Uint16(b) {
		case settingWindow:
			if value > mostWindow {
				return fmt.Errorf("a window of %d bytes is more than HTTP/2 allows", value)
			}
			c.sendStream += int64(value) - c.firstStream
			c.firstStream = int64(value)
		case settingTable:
			// The encoder here uses no dynamic table.
		}
	}
	c.reply = append(c.reply, c.more()...)
	return nil
}

func (c *http2Client) data(flags byte, stream uint32, payload []byte) error {
	if c.receive -= int64(len(payload)); c.receive < windowIsLow {
		c.reply = append(c.reply, windowBy(0, mostWindow-c.receive)...)
		c.receive = mostWindow
	}
	if stream == c.stream && flags&flagEndStream != 0 {
		c.answered()
	}
	return nil
}

func (c *http2Client) header(kind, flags byte, stream uint32, payload []byte) error {
	if kind == frameHeaders {
		c.blockEnds = flags&flagEndStream != 0
		pad, skip := 0, 0
		if flags&flagPadded != 0 {
			if len(payload) == 0 {
				return errors.New("a HEADERS frame of HTTP/2 is too short")
			}
			pad, skip = int(payload[0]), 1
		}
		if flags&flagPriority != 0 {
			skip += 5
		}
		if len(payload) < skip+pad {
			return errors.New("a HEADERS frame of HTTP/2 is too short")
		}
		payload = payload[skip : len(payload)-pad]
		c.block = c.block[:0]
	}
	if c.block = append(c.block, payload...); len(c.block) > mostHeaderList {
		return fmt.Errorf("the headers of an answer are longer than %d kB", mostHeaderList>>10)
	}
	if flags&flagEndHeaders == 0 {
		return nil
	}
	if c.about == nil {
		c.about = map[string]string{}
	}
	if _, err := c.hpack.Write(c.block); err != nil {
		return fmt.Errorf("the headers of an answer cannot be decoded: %w", err)
	}
	if err := c.hpack.Close(); err != nil {
		return fmt.Errorf("the headers of an answer cannot be decoded: %w", err)
	}
	if stream == c.stream && c.blockEnds {
		c.answered()
	}
	return nil
}

func (c *http2Client) answered() {
	c.rest = nil // an answer before the end of the request: the rest is not wanted
	c.got.Done++
	if c.p.failed(c.about) {
		c.got.Failed++
	}
	c.about = map[string]string{}
}

// frames cuts what came into frames.
type frames struct {
	each func(kind, flags byte, stream uint32, payload []byte) error
	have []byte
}

func (f *frames) read(b []byte) error {
	if len(f.have) > 0 {
		b = append(f.have, b...)
	}
	for len(b) >= frameHead {
		n := int(b[0])<<16 | int(b[1])<<8 | int(b[2])
		if n > mostFrame {
			return fmt.Errorf("%.16q does not begin with a frame of HTTP/2", b)
		}
		if len(b) < frameHead+n {
			break
		}
		if err := f.each(b[3], b[4], binary.BigEndian.Uint32(b[5:])&mostWindow, b[frameHead:frameHead+n]); err != nil {
			return err
		}
		b = b[frameHead+n:]
	}
	f.have = append(f.have[:0], b...)
	return nil
}

// Server implements Protocol.
func (p *HTTP2) Server() Server {
	s := &http2Server{left: len(preface)}
	s.frames.each = s.take
	return s
}

// http2Server answers each request with 200 and no body. Of gRPC that is an error, which measures
// the same.
type http2Server struct {
	frames frames
	left   int // of the preface
	out    []byte
}

func (s *http2Server) Serve(b []byte) []byte {
	if s.left > 0 {
		if s.left == len(preface) {
			s.out = append(s.out, frame(frameSettings, 0, 0, setting(settingWindow, mostWindow))...)
			s.out = append(s.out, windowBy(0, mostWindow-firstWindow)...)
		}
		n := min(s.left, len(b))
		s.left, b = s.left-n, b[n:]
	}
	_ = s.frames.read(b) // of this process: well formed
	out := s.out
	s.out = nil
	return out
}

func (s *http2Server) take(kind, flags byte, stream uint32, payload []byte) error {
	switch {
	case kind == frameSettings && flags&flagAck == 0:
		s.out = append(s.out, frame(frameSettings, flagAck, 0, nil)...)
	case kind == frameData && len(payload) > 0:
		s.out = append(s.out, windowBy(0, int64(len(payload)))...)
	}
	if (kind == frameHeaders || kind == frameData) && flags&flagEndStream != 0 {
		s.out = append(s.out, frame(frameHeaders, flagEndHeaders|flagEndStream, stream, []byte{0x88})...) // ":status: 200" of the static table
	}
	return nil
}

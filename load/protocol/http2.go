package protocol

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"golang.org/x/net/http2/hpack"
)

// HTTP2 is HTTP/2 (RFC 9113) without a change of protocol: over TLS by ALPN, else at once ("prior
// knowledge").
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

// New implements Protocol.
func (p *HTTP2) New() Conversation {
	c := &http2Client{p: p, sendConn: firstWindow, firstStream: firstWindow, receive: mostWindow, limit: mostWindow}
	c.frames.each = c.take
	c.hpack = hpack.NewDecoder(4096, func(f hpack.HeaderField) {
		if c.into != nil {
			c.into.about[f.Name] = f.Value
		}
	})
	c.hpack.SetMaxStringLength(mostHeaderList)
	return c
}

type http2Client struct {
	p         *HTTP2
	frames    frames
	hpack     *hpack.Decoder
	into      *http2Stream // whose headers are decoded; nil: of none that is open
	block     []byte       // of headers that are not complete yet
	blockEnds bool         // the stream ends with it
	stream    uint32       // of the last request
	open      []*http2Stream
	spare     []*http2Stream
	asked     [1][]byte
	reply     []byte
	got       Got
	ended     []Ended

	sendConn, firstStream int64
	receive               int64 // what is left of the window that this side gave to the connection
	limit                 int64 // SETTINGS_MAX_CONCURRENT_STREAMS
	settled               bool  // the server's SETTINGS are here
	limited               bool  // and they had a limit
	going                 bool  // GOAWAY came
}

// http2Stream is one request that is open.
type http2Stream struct {
	id     uint32
	number int64
	about  map[string]string // the headers and trailers of its answer
	rest   []byte            // of the body, that no window has room for yet
	window int64             // what may be sent on it
}

// Ask implements Conversation. Bytes of a body that the windows have no room for are sent later.
func (c *http2Client) Ask(number int64) [][]byte {
	out := c.asked[0][:0]
	if c.stream == 0 {
		out = append(out, preface...)
		out = appendFrame(out, frameSettings, 0, 0, append(setting(settingPush, 0), setting(settingWindow, mostWindow)...))
		out = append(out, windowBy(0, mostWindow-firstWindow)...)
		c.stream = 1
	} else {
		c.stream += 2
	}
	s := c.opened(number)
	flags := byte(flagEndHeaders)
	if len(c.p.body) == 0 {
		flags |= flagEndStream
	}
	out = appendFrame(out, frameHeaders, flags, s.id, c.p.headers)
	c.asked[0] = c.more(out, s)
	return c.asked[:]
}

// opened is the stream of the next request.
func (c *http2Client) opened(number int64) (s *http2Stream) {
	if n := len(c.spare); n > 0 {
		s, c.spare = c.spare[n-1], c.spare[:n-1]
		clear(s.about)
	} else {
		s = &http2Stream{about: map[string]string{}}
	}
	s.id, s.number, s.rest, s.window = c.stream, number, c.p.body, c.firstStream
	c.open = append(c.open, s)
	return s
}

// more appends as much of a body as may be sent.
func (c *http2Client) more(out []byte, s *http2Stream) []byte {
	for len(s.rest) > 0 {
		n := min(int64(len(s.rest)), mostFrame, c.sendConn, s.window)
		if n <= 0 {
			return out
		}
		flags := byte(0)
		if int(n) == len(s.rest) {
			flags = flagEndStream
		}
		out = appendFrame(out, frameData, flags, s.id, s.rest[:n])
		s.rest, c.sendConn, s.window = s.rest[n:], c.sendConn-n, s.window-n
	}
	return out
}

// of returns the open stream with this number; nil: it is not open.
func (c *http2Client) of(id uint32) *http2Stream {
	i, found := slices.BinarySearchFunc(c.open, id, func(s *http2Stream, id uint32) int { return cmp.Compare(s.id, id) })
	if !found {
		return nil
	}
	return c.open[i]
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
	c.got, c.ended = Got{}, c.ended[:0]
	err := c.frames.read(b)
	if err == nil && c.going {
		c.got.Last = true
		if len(c.open) == 0 && c.got.Done == 0 {
			err = ErrGoing
		}
	}
	return c.got, err
}

// ErrGoing is not an error of the protocol: the connection ends, and no answer is to come.
var ErrGoing = errors.New("the server ends the connection (GOAWAY)")

// Limit implements Many. Until the server's SETTINGS are here, one request is enough to learn them: more may be
// refused.
func (c *http2Client) Limit() (n int, said bool) {
	switch {
	case c.going:
		return 0, false
	case !c.settled:
		return 1, false
	}
	return int(c.limit), c.limited
}

// Ended implements Many.
func (c *http2Client) Ended() []Ended { return c.ended }

// Cancel implements Many.
func (c *http2Client) Cancel(number int64) {
	if i := slices.IndexFunc(c.open, func(s *http2Stream) bool { return s.number == number }); i >= 0 {
		s := c.open[i]
		c.reply = append(c.reply, resetOf(s.id)...)
		c.remove(s)
	}
}

func (c *http2Client) remove(s *http2Stream) {
	i := slices.Index(c.open, s)
	c.open = slices.Delete(c.open, i, i+1)
	c.spare = append(c.spare, s)
}

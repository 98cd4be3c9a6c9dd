// Package protocol has the requests that a load sends, and finds the ends of the answers. Nothing in
// it reads or writes a socket, except Login.
package protocol

import (
	"context"
	"net"
)

// Protocol is how one target is asked. It is shared by all connections and does not change.
type Protocol interface {
	// New is the conversation on one connection, from its beginning.
	New() Conversation
	// Server is the other side of a conversation: it answers each request at once.
	Server() Server
}

// Conversation is what is said on one connection. At most one request is open on it, unless it is a Many.
type Conversation interface {
	// Ask returns the next request in the writes in which it is sent. number is the request's own of
	// the whole load. The bytes are valid until the next call.
	Ask(number int64) [][]byte
	// Read takes what the connection received. An error says that it is no answer of the protocol;
	// nothing more can be read then.
	Read(b []byte) (Got, error)
}

// Got is what ended in one read.
type Got struct {
	Done   int // answers
	Failed int // of these: errors in the protocol's own words
	Stale  int // datagrams that answer an earlier request
	Odd    int // of Done: they have another size than was awaited
	// Last: the other side closes the connection after this answer.
	Last bool
}

// Many is a conversation on which several requests can be open at once. Each is known by its number.
type Many interface {
	Conversation
	Replier
	// Limit is how many requests can be open now; said: the other side set it. It may change with each Read.
	Limit() (n int, said bool)
	// Ended are the requests that ended in the last Read. They are valid until the next one.
	Ended() []Ended
	// Cancel gives up a request. What still comes for it is ignored.
	Cancel(number int64)
}

// Ended is the end of one request.
type Ended struct {
	Number int64
	Failed bool // an error in the protocol's own words
	// Untaken: the other side did not begin to process it and ends the connection. It can be sent on another one.
	Untaken bool
}

// Ender is a conversation in which an answer may end with its connection.
type Ender interface {
	// End returns what ended with the connection.
	End() Got
}

// Replier is a conversation in which a side also has to send what is no request, such as an
// acknowledgement of HTTP/2.
type Replier interface {
	// Reply returns what has to be sent now, and forgets it.
	Reply() []byte
}

// Silent is a conversation whose requests get no answer: they are done when they are sent.
type Silent interface {
	Silent() bool
}

// Server takes the bytes of requests and returns the answers. Of datagrams b is one of them.
type Server interface {
	Serve(b []byte) []byte
}

// Login is a protocol whose connections begin with a conversation of their own: TLS, a password.
type Login interface {
	// Login runs it over a connection that was just made, and returns the connection over which
	// requests go: that one, or one around it.
	Login(ctx context.Context, c net.Conn) (net.Conn, error)
}

// counted is a server of requests that all have the same size.
type counted struct {
	asks, have int
	answer     []byte
}

func (s *counted) Serve(b []byte) (out []byte) {
	for s.have += len(b); s.have >= s.asks; s.have -= s.asks {
		out = append(out, s.answer...)
	}
	return out
}

func sizeOf(writes [][]byte) (n int) {
	for _, w := range writes {
		n += len(w)
	}
	return n
}

// fixed is a request that is the same each time.
type fixed [][]byte

func (f fixed) Ask(int64) [][]byte { return f }

package load

import (
	"errors"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"snag/load/protocol"
)

// What a connection is at.
type at int

const (
	away    at = iota // none, or one that failed: made again at its next
	joining           // the handshake, and the login
	free
	asking  // a write was not taken whole
	waiting // for the answer
)

// openRequest is when a request was due and was sent, after the start.
type openRequest struct {
	due, sent time.Duration
	readyAt   time.Duration // when it could be sent: it was due, and its connection had room for it
}

// conn is one connection, with one request open at most unless several is there.
type conn struct {
	fd        int
	at        at
	next      int64         // the number of its next request
	freeAt    time.Duration // since when it can take a request, after the start
	talk      protocol.Conversation
	reply     []byte // what the protocol sends between requests
	request   [][]byte
	wire      *wire    // of TLS and other protocols with a login
	top       net.Conn // around it
	datagrams bool
	room      bool // of datagrams: room is reported (poller.addRoom)

	openRequest           // in the heap, readyAt is of the next request
	several      *several // nil: one request is open at most
	asker        *asker   // nil: it is not a Client's
	home         *conn    // of a connection that leaves (leave.go): where it was; nil: it is at home
	piece, wrote int      // where its writing is
	joinBy       time.Duration
	again        time.Duration // away: when it is made again
	heapAt       int           // −1: not in the heap
	base         *unix.TCPInfo // at its first answer
}

// ready is when the connection can send its next request: when it is due, or free.
func (c *conn) ready(p *Plan) time.Duration {
	since := c.freeAt
	if c.at == away {
		since = c.again
	}
	switch a := c.asker; {
	case a != nil && a.open: // it only waited for its connection
		return since
	case a != nil:
		return max(p.due(c.next)+a.moved, since)
	case c.at == away:
		return since
	}
	return max(p.due(c.next), since)
}

// write goes on with the open request. It reports whether all of it was taken.
func (c *conn) write() (whole bool, err error) {
	for c.piece < len(c.request) {
		n, err := c.send(c.request[c.piece][c.wrote:])
		switch {
		case errors.Is(err, unix.EAGAIN):
			return false, nil
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return false, err
		}
		if c.wrote += n; c.wrote == len(c.request[c.piece]) {
			c.piece, c.wrote = c.piece+1, 0
		}
	}
	if c.wire != nil {
		err = c.wire.flush()
		return len(c.wire.out) == 0, err
	}
	return true, nil
}

func (c *conn) send(b []byte) (int, error) {
	if c.top != nil {
		return c.top.Write(b)
	}
	return write(c.fd, b)
}

// receive returns EAGAIN where nothing is there, and io.EOF where nothing more will come.
func (c *conn) receive(b []byte) (int, error) {
	if c.top == nil {
		n, err := read(c.fd, b)
		if n == 0 && err == nil && !c.datagrams {
			err = io.EOF
		}
		return n, err
	}
	n, err := c.top.Read(b)
	switch {
	case n > 0: // TLS returns the last bytes with the end, which the next read says again
		err = nil
	case errors.Is(err, errAgain):
		err = unix.EAGAIN
	}
	return n, err
}

// kindOf puts an error of a socket into a kind.
func kindOf(err error) Kind {
	switch {
	case errors.Is(err, unix.ECONNREFUSED):
		return Refused
	case errors.Is(err, unix.ECONNRESET), errors.Is(err, unix.EPIPE):
		return Reset
	case errors.Is(err, unix.ETIMEDOUT), errors.Is(err, unix.EHOSTUNREACH):
		return NoConnect
	}
	return Failure
}

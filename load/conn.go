package load

import (
	"encoding/binary"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// What a connection is at.
type at int

const (
	away    at = iota // none, or one that failed: made again at its next
	joining           // the handshake
	free
	asking  // a write was not taken whole
	waiting // for the answer
)

// conn is one connection, with one request open at most.
type conn struct {
	fd     int
	at     at
	next   int64         // the number of its next request
	freeAt time.Duration // since when nothing is open on it, after the start
	reader Reader

	due, sent    time.Duration // of the open request
	piece, wrote int           // where its writing is
	joinBy       time.Duration
	again        time.Duration // away: when it is made again
	heapAt       int           // −1: not in the heap
}

// ready is when the connection can send its next request: when it is due, or free.
func (c *conn) ready(p *Plan) time.Duration {
	if c.at == away {
		return c.again
	}
	return max(p.due(c.next), c.freeAt)
}

// write goes on with the open request. It reports whether all of it was taken.
func (c *conn) write(request [][]byte) (whole bool, err error) {
	for c.piece < len(request) {
		rest := request[c.piece][c.wrote:]
		n, err := unix.Write(c.fd, rest)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return false, nil
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return false, err
		}
		if c.wrote += n; c.wrote == len(request[c.piece]) {
			c.piece, c.wrote = c.piece+1, 0
		}
	}
	return true, nil
}

// stamped is how many bytes of a datagram hold its number, which shows whether an echo
// is late or the answer to the last request.
const stamped = 8

func stamp(b []byte, number int64) {
	if len(b) >= stamped {
		binary.BigEndian.PutUint64(b, uint64(number)|1<<63)
	}
}

// stale reports whether a datagram is the echo of an earlier request.
func stale(b []byte, number int64) bool {
	if len(b) < stamped {
		return false
	}
	n := binary.BigEndian.Uint64(b)
	return n>>63 == 1 && int64(n&^(1<<63)) < number
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

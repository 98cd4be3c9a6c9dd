package protocol

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"
)

// sslRequest asks a server of PostgreSQL for TLS: its length and a code (frontend/backend protocol 3.0, 55.7).
var sslRequest = []byte{0, 0, 0, 8, 4, 210, 22, 47}

// offersTLS asks whether the server has TLS. If it has not, the connection goes on in the clear, as libpq does it;
// pgconn would make a new one.
func offersTLS(ctx context.Context, c net.Conn) (bool, error) {
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) }) // what waits then ends
	defer stop()
	if _, err := c.Write(sslRequest); err != nil {
		return false, err
	}
	answer := make([]byte, 1)
	if _, err := io.ReadFull(c, answer); err != nil {
		return false, err
	}
	switch answer[0] {
	case 'S':
		return true, nil
	case 'N':
		return false, nil
	}
	return false, fmt.Errorf("%q is not an answer of PostgreSQL to a request for TLS", answer)
}

// offered is a connection whose server was asked for TLS already: who asks again gets the same answer.
type offered struct {
	net.Conn
	asks   int // bytes of the request that are still to be written
	answer []byte
}

// Write implements net.Conn.
func (o *offered) Write(b []byte) (int, error) {
	skip := min(o.asks, len(b))
	if o.asks -= skip; skip == len(b) {
		return skip, nil
	}
	n, err := o.Conn.Write(b[skip:])
	return skip + n, err
}

// Read implements net.Conn.
func (o *offered) Read(b []byte) (int, error) {
	if len(o.answer) > 0 {
		n := copy(b, o.answer)
		o.answer = o.answer[n:]
		return n, nil
	}
	return o.Conn.Read(b)
}

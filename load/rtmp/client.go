package rtmp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"snag/internal/rtmp"
	"snag/load"
)

// client is one connection and what is said on it.
type client struct {
	net.Conn
	talk *rtmp.Client
	buf  []byte
}

// bufferSize is what is read at once: each client holds one.
const bufferSize = 16 << 10

// open connects, shakes hands, and goes through what is asked before the stream.
func (r *run) open(ctx context.Context, talk *rtmp.Client) (*client, error) {
	dialing, cancel := context.WithTimeout(ctx, r.plan.Timeout)
	defer cancel()
	tcp, err := r.plan.Options.Dial(dialing, "tcp", r.address)
	if err != nil {
		return nil, err
	}
	c := &client{Conn: tcp, talk: talk, buf: make([]byte, bufferSize)}
	stop := context.AfterFunc(ctx, func() { tcp.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := c.begin(ctx, r.plan, r.now); err != nil {
		tcp.Close()
		return nil, err
	}
	return c, nil
}

func (c *client) begin(ctx context.Context, p Plan, now func() time.Duration) error {
	if err := c.allow(ctx, p.Timeout); err != nil {
		return err
	}
	if p.Target.TLS {
		secure := tls.Client(c.Conn, &tls.Config{ServerName: p.Target.Host, InsecureSkipVerify: p.Insecure})
		if err := secure.HandshakeContext(ctx); err != nil {
			return err
		}
		c.Conn = secure
	}
	if err := rtmp.Handshake(c.Conn); err != nil {
		return err
	}
	for c.talk.Phase < rtmp.Playing {
		if err := c.allow(ctx, p.Timeout); err != nil {
			return err
		}
		if err := c.say(); err != nil {
			return err
		}
		if err := c.hear(now); err != nil {
			return err
		}
	}
	return c.say()
}

// allow gives the next step its time. When ctx ended it sets a deadline in the past, which this may just have
// moved on.
func (c *client) allow(ctx context.Context, d time.Duration) error {
	if err := c.SetDeadline(time.Now().Add(d)); err != nil {
		return err
	}
	return ctx.Err()
}

// say sends what is to be said.
func (c *client) say() error {
	if len(c.talk.Out) == 0 {
		return nil
	}
	_, err := c.Write(c.talk.Out)
	c.talk.Out = c.talk.Out[:0]
	return err
}

// hear reads once: what came is of the moment at which the read returned.
func (c *client) hear(now func() time.Duration) error {
	n, err := c.Read(c.buf)
	if n > 0 {
		return c.talk.Feed(c.buf[:n], int64(now())) // an error comes again
	}
	return err
}

// Outcome is how a client ended, in words that are the same for all that ended so; "": it went on to the end.
type Outcome string

// outcomeOf puts an error into one. before: the stream had not begun.
func outcomeOf(t rtmp.Target, err error, before bool) Outcome {
	var refused *rtmp.Refused
	var ended *rtmp.Ended
	switch {
	case errors.As(err, &refused):
		return Outcome("refused: " + t.Clean(refused.Why))
	case errors.As(err, &ended):
		return Outcome("ended: " + t.Clean(ended.Why))
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		if before {
			return Outcome(load.NoAnswer)
		}
		return "the server stopped reading"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "ended: connection closed by the server"
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return Outcome(load.KindOf(err))
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return Outcome(load.KindOf(err))
	}
	return Outcome(fmt.Sprintf("failed: %s", t.Clean(err.Error())))
}

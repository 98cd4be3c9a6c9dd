package rtmp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

	"snag/internal/rtmp"
	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

var _ stream.Open = Open

// Open plays the stream at u, rtmp:// or rtmps://, and tells sink of it. The
// arrival of a frame is when the read that had its last byte returned: with
// o.Every the connection is read that often at the most, and a frame is up to so
// much later than it came to this host.
//
// A server that lets a player in before there is a publisher is waited for; Sink
// hears Published with the first message of the stream.
func Open(ctx context.Context, u *url.URL, sink stream.Sink, o stream.Options) error {
	t, err := rtmp.ParseTarget(u)
	if err != nil {
		return fmt.Errorf("read %w", err)
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Now == nil {
		o.Now = wire.Monotonic
	}
	plain := t
	for step := 0; ; step++ {
		err := open(ctx, t, sink, o)
		if ctx.Err() != nil {
			return nil
		}
		var c *challenge
		if !errors.As(err, &c) {
			return err
		}
		if t.User == "" || t.Pass == "" {
			return &stream.Refused{URL: t.Shown, Why: t.Clean(c.words) + ": it wants rtmp://user:password@host/…"}
		}
		if step == 2 || step == 1 && c.asked == nil {
			return &stream.Refused{URL: t.Shown, Why: t.Clean(c.words)}
		}
		add, err := c.answer(plain)
		if err != nil {
			return fmt.Errorf("read %s: %w", t.Shown, err)
		}
		t.App, t.TCURL = plain.App+add, plain.TCURL+add
	}
}

func open(ctx context.Context, t rtmp.Target, sink stream.Sink, o stream.Options) error {
	conn, err := dial(ctx, t, o)
	if err != nil {
		return err
	}
	defer conn.Close()
	s := newSession(t, sink)
	s.keep(o)
	s.local, s.remote = conn.tcp.LocalAddr().String(), conn.tcp.RemoteAddr().String()
	if err := setUp(ctx, conn, s, o); err != nil {
		return err
	}
	if conn.paced == nil {
		return readPlain(ctx, conn.tcp, s, o)
	}
	return readSecure(ctx, conn, s, o)
}

// setUp goes through the phases up to the server's yes, each with its own time.
func setUp(ctx context.Context, conn *connection, s *session, o stream.Options) error {
	stop := context.AfterFunc(ctx, func() { conn.tcp.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	buf := make([]byte, 4<<10) // not of the pool: the server is waited for
	at := rtmp.Phase(255)
	for s.Phase < rtmp.Playing {
		if at != s.Phase {
			at = s.Phase
			if err := allow(ctx, conn.tcp, o.Timeout); err != nil {
				return err
			}
		}
		if len(s.Out) > 0 {
			if _, err := conn.Write(s.Out); err != nil {
				return s.lost("send", err, o.Timeout)
			}
			s.Out = s.Out[:0]
		}
		n, err := conn.Read(buf)
		if n > 0 {
			if err := s.feed(buf[:n], o.Now()); err != nil {
				return err
			}
		}
		if err != nil && n <= 0 {
			return s.lost("wait for the answer to", err, o.Timeout)
		}
	}
	if len(s.Out) > 0 { // a server that answered all before it was asked
		if _, err := conn.Write(s.Out); err != nil {
			return s.lost("send", err, o.Timeout)
		}
		s.Out = s.Out[:0]
	}
	return conn.tcp.SetDeadline(time.Time{})
}

// lost says in which phase the connection failed.
func (s *session) lost(doing string, err error, timeout time.Duration) error {
	what := map[rtmp.Phase]string{
		rtmp.Connecting: "connect to the application " + s.to.Clean(s.to.App),
		rtmp.Creating:   "createStream",
		rtmp.Asking:     "play",
		rtmp.Playing:    "the stream",
	}[s.Phase]
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("read %s: %s %s: the server shook hands and did not answer within %v: is it overloaded, does it know the application and the name?", s.to.Shown, doing, what, timeout)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return fmt.Errorf("read %s: %s %s: %s: does the server know the application and the name, and may this reader have it?", s.to.Shown, doing, what, closed(err))
}

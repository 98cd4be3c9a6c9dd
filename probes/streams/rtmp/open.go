package rtmp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

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
	t, err := parse(u)
	if err != nil {
		return err
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
		if t.user == "" || t.pass == "" {
			return &stream.Refused{URL: t.shown, Why: t.clean(c.words) + ": it wants rtmp://user:password@host/…"}
		}
		if step == 2 || step == 1 && c.asked == nil {
			return &stream.Refused{URL: t.shown, Why: t.clean(c.words)}
		}
		add, err := c.answer(plain)
		if err != nil {
			return fmt.Errorf("read %s: %w", t.shown, err)
		}
		t.app, t.tcURL = plain.app+add, plain.tcURL+add
	}
}

func open(ctx context.Context, t target, sink stream.Sink, o stream.Options) error {
	conn, err := dial(ctx, t, o)
	if err != nil {
		return err
	}
	defer conn.Close()
	s := newSession(t, sink)
	s.in.Keys, s.media.Keys = o.Keys, o.Keys
	s.in.Sounds, s.media.Sounds = o.Sounds, o.Sounds
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
	at := phase(255)
	for s.phase < playing {
		if at != s.phase {
			at = s.phase
			if err := allow(ctx, conn.tcp, o.Timeout); err != nil {
				return err
			}
		}
		if len(s.out) > 0 {
			if _, err := conn.Write(s.out); err != nil {
				return s.lost("send", err, o.Timeout)
			}
			s.out = s.out[:0]
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
	if len(s.out) > 0 { // a server that answered all before it was asked
		if _, err := conn.Write(s.out); err != nil {
			return s.lost("send", err, o.Timeout)
		}
		s.out = s.out[:0]
	}
	return conn.tcp.SetDeadline(time.Time{})
}

// lost says in which phase the connection failed.
func (s *session) lost(doing string, err error, timeout time.Duration) error {
	what := map[phase]string{
		connecting: "connect to the application " + s.to.clean(s.to.app),
		creating:   "createStream",
		asking:     "play",
		playing:    "the stream",
	}[s.phase]
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("read %s: %s %s: the server shook hands and did not answer within %v: is it overloaded, does it know the application and the name?", s.to.shown, doing, what, timeout)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return fmt.Errorf("read %s: %s %s: %s: does the server know the application and the name, and may this reader have it?", s.to.shown, doing, what, closed(err))
}

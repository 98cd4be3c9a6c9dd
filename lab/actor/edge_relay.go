package actor

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"snag/lab/clientlog"
	"snag/lab/rtmp"
)

// What edge relays do when the origin has no such stream is the incident:
// reconnect at once, or back off with jitter.
var edgeRelay = Actor{
	Name:  "edge-relay",
	About: "pulls a stream from an RTMP origin over some connections, and reconnects when refused",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		to := f.String("to", "", "origin, address:port")
		from := f.String("from", "", "own address to connect from")
		app := f.String("app", "live", "application")
		stream := f.String("stream", "", "stream to pull")
		clients := f.Int("clients", 8, "connections at a time, at most 64")
		pause := f.Duration("pause", 20*time.Millisecond, "first wait before a reconnect")
		read := f.Duration("read", 0, "read for this long, then do nothing for --stop, and again")
		stop := f.Duration("stop", 0, "0 never stops")
		reads := f.Bool("reads", false, "it begins without stops; SIGUSR2 switches them on and off")
		path := f.String("log", "", "file for the client's log: what it reads, in messages")
		most := f.Duration("backoff", 0, "double the wait up to this, with jitter; 0 never backs off")
		if err := parse(); err != nil {
			return err
		}
		if *clients < 1 || *clients > 64 || *stream == "" {
			return errors.New("give --stream and between 1 and 64 --clients")
		}
		dialer := &net.Dialer{Timeout: 3 * time.Second}
		if *from != "" {
			dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(*from)}
		}
		w, err := clientlog.Create(*path)
		if err != nil {
			return err
		}
		defer w.Close()
		seen := newTally()
		edge := edge{dialer: dialer, to: *to, app: *app, stream: *stream, read: *read, stop: *stop, seen: seen, log: w,
			reads: switched(ctx, unix.SIGUSR2, *reads, "reads")}
		for range *clients {
			go func() {
				for wait := *pause; ctx.Err() == nil; {
					if !sleep(ctx, around(wait)) {
						return
					}
					edge.pull(ctx)
					if *most > 0 {
						wait = min(2*wait, *most)
					}
				}
			}()
		}
		ready()
		seen.report(ctx, os.Stdout)
		return nil
	},
}

type edge struct {
	dialer          *net.Dialer
	to, app, stream string
	read, stop      time.Duration
	seen            *tally
	log             *clientlog.Writer
	reads           *atomic.Bool // it does not stop now
}

// pull connects, asks and, when it is given, watches until the end.
func (e edge) pull(ctx context.Context) {
	begun := time.Now()
	conn, err := e.dialer.DialContext(ctx, "tcp", e.to)
	if err != nil {
		e.seen.add("connect-failed")
		return
	}
	defer conn.Close()
	e.seen.took("connect", time.Since(begun))
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	p, err := rtmp.Handshake(conn)
	if err == nil {
		err = p.Play(e.to, e.app, e.stream)
	}
	if err != nil {
		what := "failed"
		if errors.Is(err, rtmp.ErrNotFound) {
			what = "not-found"
			// The origin hangs up first and keeps the TIME-WAIT.
			_, _ = io.Copy(io.Discard, conn)
		}
		e.seen.took(what, time.Since(begun))
		return
	}
	e.seen.add("playing")
	stopAt := time.Now().Add(e.read)
	for ctx.Err() == nil {
		if e.stop > 0 && !e.reads.Load() && time.Now().After(stopAt) {
			e.seen.add("stop")
			sleep(ctx, e.stop)
			stopAt = time.Now().Add(e.read)
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		if err := p.Watch(); err != nil {
			e.seen.add("cut")
			return
		}
		e.seen.add("message")
		e.log.Delivered(1)
	}
}

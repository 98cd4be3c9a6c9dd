package actor

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"snag/lab/clientlog"
)

var serviceClient = Actor{
	Name:  "service-client",
	About: "asks a service for answers of a fixed size, gives up after a time, comes back when a connection fails, and logs each request; after SIGUSR2 with --open, what fell due before is not asked any more",
	Main: func(ctx context.Context, f *flag.FlagSet, parse func() error) error {
		var c asking
		f.StringVar(&c.to, "to", "", "address:port, or the path of a UNIX socket")
		conns := f.Int("conns", 1, "connections")
		f.DurationVar(&c.every, "every", 100*time.Millisecond, "a request falls due this often on each")
		f.BoolVar(&c.open, "open", false, "requests fall due at that rate whether the one before was answered or not; their length counts from then")
		f.IntVar(&c.size, "size", 128, "bytes of a request and of its answer")
		f.DurationVar(&c.timeout, "timeout", 10*time.Second, "gives up after this")
		f.BoolVar(&c.fresh, "fresh", false, "its own connection for each request")
		f.IntVar(&c.first, "first", 0, "the first byte of a request; the others are 0")
		f.IntVar(&c.split, "split", 0, "sends a request in two writes, the first of so many bytes, without TCP_NODELAY")
		version := f.String("tls", "", "over TLS, of this version at most: 1.2 or 1.3")
		authority := f.String("authority", "", "file with the certificates that it trusts, with --tls")
		switched := f.Bool("switched", false, "idle until SIGUSR1, which turns it on and off")
		path := f.String("log", "", "file for the client's log")
		if err := parse(); err != nil {
			return err
		}
		if *version != "" {
			var err error
			if c.tls, err = clientConfig(*version, *authority); err != nil {
				return err
			}
		}
		w, err := clientlog.Create(*path)
		if err != nil {
			return err
		}
		defer w.Close()
		c.log = w
		c.busy = toggled(!*switched)
		c.anew = newSchedule()
		for i := range *conns {
			// Spread over the interval, so that they do not come as one burst.
			wait := time.Duration(i) * c.every / time.Duration(*conns)
			go func() {
				sleep(ctx, wait)
				c.run(ctx)
			}()
		}
		ready()
		<-ctx.Done()
		return nil
	},
}

type asking struct {
	to             string
	every, timeout time.Duration
	size, split    int
	first          int
	open, fresh    bool
	tls            *tls.Config // nil: none
	log            *clientlog.Writer
	busy           *toggle
	anew           *schedule
}

// schedule counts how often the requests that fall due whatever happens begin anew. Who was kept
// from asking for long has many of them behind him, and would first give up each in turn.
type schedule struct{ turns atomic.Int64 }

// newSchedule begins anew with every SIGUSR2.
func newSchedule() *schedule {
	s := &schedule{}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR2)
	go func() {
		for range signals {
			s.turns.Add(1)
		}
	}()
	return s
}

// again is how long a client waits after a failure before it comes back.
const again = 200 * time.Millisecond

// run asks on one connection, or on one for each request, until the context ends.
func (c asking) run(ctx context.Context) {
	var conn net.Conn
	defer func() { hangUp(conn) }()
	buf := make([]byte, c.size)
	turn := c.anew.turns.Load()
	for next := time.Now(); ; {
		if now := c.anew.turns.Load(); now != turn {
			turn, next = now, time.Now()
		}
		if !c.busy.isOn() {
			if !c.busy.await(ctx) {
				return
			}
			next = time.Now()
		}
		due := time.Now()
		if c.open {
			due = next
		}
		id := c.log.BeginDue(due)
		deadline := due.Add(c.timeout)
		var err error
		if conn == nil {
			conn, err = c.dial(ctx, deadline)
		}
		if err == nil {
			err = c.ask(conn, buf, deadline)
		}
		c.log.End(id, outcome(err))
		if err != nil || c.fresh {
			hangUp(conn)
			conn = nil
		}
		if err != nil && !sleep(ctx, again) {
			return
		}
		if next = next.Add(c.every); !c.open && time.Since(next) > 0 {
			next = time.Now()
		}
		if !sleep(ctx, time.Until(next)) {
			return
		}
	}
}

func hangUp(c net.Conn) {
	if c != nil {
		c.Close()
	}
}

func (c asking) dial(ctx context.Context, deadline time.Time) (net.Conn, error) {
	d := net.Dialer{Deadline: deadline}
	conn, err := d.DialContext(ctx, networkOf(c.to), c.to)
	if tcp, ok := conn.(*net.TCPConn); ok && err == nil && c.split > 0 {
		err = tcp.SetNoDelay(false)
	}
	if err != nil || c.tls == nil {
		return conn, err
	}
	secured := tls.Client(conn, c.tls)
	if err = secured.SetDeadline(deadline); err == nil {
		err = secured.HandshakeContext(ctx)
	}
	return secured, err
}

func (c asking) ask(conn net.Conn, buf []byte, deadline time.Time) error {
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	buf[0] = byte(c.first)
	if c.split > 0 && c.split < len(buf) {
		if _, err := conn.Write(buf[:c.split]); err != nil {
			return err
		}
		if _, err := conn.Write(buf[c.split:]); err != nil {
			return err
		}
	} else if _, err := conn.Write(buf); err != nil {
		return err
	}
	_, err := io.ReadFull(conn, buf)
	return err
}

// outcome of a request: no answer in time is another harm than a refusal.
func outcome(err error) clientlog.Outcome {
	switch {
	case err == nil:
		return clientlog.OK
	case errors.Is(err, os.ErrDeadlineExceeded):
		return clientlog.Lost
	}
	return clientlog.Failed
}

package load

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"snag/load/protocol"
)

// logins make connections whose protocol begins with a conversation of its own. It waits, so that each
// runs beside the load's thread, which is woken when one is over.
type logins struct {
	run    *run
	with   protocol.Login
	ctx    context.Context
	cancel context.CancelFunc
	turn   chan struct{} // so many run at a time
	all    sync.WaitGroup
	wake   int // an eventfd

	mu   sync.Mutex
	over []loggedIn
}

// loggedIn is what came of one.
type loggedIn struct {
	conn *conn
	wire *wire
	top  net.Conn // what requests go over: wire itself, or TLS around it
	err  error
}

const (
	mostLogins = 32
	wakeNumber = -1 // of the eventfd among the poller's connections
)

func newLogins(ctx context.Context, r *run, with protocol.Login) (*logins, error) {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	most := mostLogins
	if r.plan.Client != nil { // none waits for another's
		most = r.plan.Conns
	}
	l := &logins{run: r, with: with, turn: make(chan struct{}, most), wake: fd}
	l.ctx, l.cancel = context.WithCancel(ctx)
	return l, r.poll.add(fd, wakeNumber, false)
}

func (l *logins) begin(c *conn) {
	within := connectWithin
	if c.asker != nil {
		within = l.run.timeout(c) - l.run.now
	}
	l.all.Go(func() {
		l.turn <- struct{}{}
		defer func() { <-l.turn }()
		done := loggedIn{conn: c}
		done.wire, done.top, done.err = l.one(within)
		l.mu.Lock()
		l.over = append(l.over, done)
		l.mu.Unlock()
		_, _ = unix.Write(l.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // it fails when it is full, and then it wakes
	})
}

func (l *logins) one(within time.Duration) (*wire, net.Conn, error) {
	ctx, cancel := context.WithTimeout(l.ctx, within)
	defer cancel()
	p := l.run.plan
	c, err := p.Options.Dial(ctx, p.Target.Network, l.run.address)
	if err != nil {
		return nil, nil, err
	}
	w := &wire{Conn: c}
	top, err := l.with.Login(ctx, w)
	if err != nil {
		c.Close()
		return nil, nil, &loginError{err}
	}
	return w, top, w.detach()
}

// take returns those that are over.
func (l *logins) take() []loggedIn {
	_, _ = unix.Read(l.wake, make([]byte, 8))
	l.mu.Lock()
	defer l.mu.Unlock()
	over := l.over
	l.over = nil
	return over
}

// end waits for those that still run, and closes what they made.
func (l *logins) end() {
	l.cancel()
	l.all.Wait()
	for _, d := range l.take() {
		if d.err == nil {
			_ = unix.Close(d.wire.fd)
		}
	}
	_ = unix.Close(l.wake)
}

// loginError is one of the conversation, and not of the connection.
type loginError struct{ error }

func (e *loginError) Unwrap() error { return e.error }

func (r *run) loggedInAll() error {
	for _, d := range r.logins.take() {
		if err := r.loggedIn(d); err != nil {
			return err
		}
	}
	return nil
}

// loggedIn takes a connection whose login is over.
func (r *run) loggedIn(d loggedIn) error {
	c := d.conn
	if d.err != nil {
		if r.loginErr == nil {
			r.loginErr = d.err
			if errors.Is(d.err, unix.EMFILE) || errors.Is(d.err, unix.ENFILE) {
				r.loginErr = r.plan.noSocket(d.err)
			}
		}
		return r.failed(c, r.kindOfJoin(c, KindOf(d.err)))
	}
	c.fd, c.wire, c.top = d.wire.fd, d.wire, d.top
	if err := r.poll.add(c.fd, r.indexOf(c), true); err != nil {
		return err
	}
	return r.joined(c)
}

// KindOf puts an error of a connection, or of what is said at its beginning, into a kind.
func KindOf(err error) Kind {
	var errno unix.Errno
	var login *loginError
	var late net.Error
	switch {
	case errors.As(err, &late) && late.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return NoConnect
	case errors.As(err, &errno):
		return kindOf(errno)
	case errors.As(err, &login):
		return NoLogin
	}
	return Failure
}

package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"snag/load/protocol"
)

// connectWithin is how long a handshake may take: its SYN is sent three times by then.
const connectWithin = 5 * time.Second

// joinAll makes all connections before the first request is due, so that none waits for a handshake.
// A service that takes none at all is an error and no load.
func (r *run) joinAll(ctx context.Context) error {
	r.began = time.Now()
	for i := range r.conns {
		r.clock()
		if err := r.join(&r.conns[i]); err != nil {
			return err
		}
	}
	for {
		r.clock()
		joined, open := 0, 0
		for i := range r.conns {
			switch r.conns[i].at {
			case free, waiting: // the other side may allow no request yet
				joined++
			case joining:
				open++
			}
		}
		switch {
		case open == 0 && joined == 0:
			if r.loginErr != nil {
				return fmt.Errorf("ask %s: %w", r.plan.Target.Name, r.loginErr)
			}
			return fmt.Errorf("ask %s: %s", r.plan.Target.Name, mostOf(r.out.Lost))
		case open == 0 || ctx.Err() != nil:
			return ctx.Err()
		}
		events, err := r.poll.wait(checkEvery)
		if err != nil {
			return err
		}
		r.clock()
		for _, e := range events {
			if err := r.changed(e); err != nil {
				return err
			}
		}
		if err := r.giveUp(); err != nil {
			return err
		}
	}
}

func mostOf(lost map[Kind]int64) Kind {
	most := Failure
	for k, n := range lost {
		if n > lost[most] {
			most = k
		}
	}
	return most
}

// join begins a connection.
func (r *run) join(c *conn) error {
	c.talk, c.reply, c.wire, c.top, c.room = r.plan.Target.Protocol.New(), nil, nil, nil, false
	if r.plan.Streams > 1 {
		c.several = c.several.on(c.talk.(protocol.Many)) // Plan.Check: it is one
	}
	if r.logins != nil {
		c.at = joining
		r.logins.begin(c)
		return nil
	}
	kind := unix.SOCK_STREAM
	if r.plan.Target.Network == "udp" {
		kind, c.datagrams = unix.SOCK_DGRAM, true
	}
	fd, err := unix.Socket(r.family, kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil && c.asker != nil {
		return r.failed(c, Failure)
	}
	if err != nil {
		return r.plan.noSocket(err)
	}
	if c.fd, c.at, c.joinBy = fd, joining, r.now+connectWithin; c.asker != nil {
		c.joinBy = r.timeout(c)
	}
	if err := r.plan.Options.Set(fd, r.plan.Target.Network); err != nil {
		return err
	}
	if r.dozes {
		r.dozes = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) == nil
	}
	if err := r.poll.add(fd, r.indexOf(c), !c.datagrams); err != nil {
		return fmt.Errorf("watch a socket: %w", err)
	}
	err = unix.Connect(fd, r.to)
	switch {
	case err == nil:
		return r.joined(c)
	case errors.Is(err, unix.EINPROGRESS):
		return nil
	case errors.Is(err, unix.EADDRNOTAVAIL) && c.asker == nil:
		return fmt.Errorf("ask %s: no local port is left for one more connection (net.ipv4.ip_local_port_range)", r.plan.Target.Name)
	}
	return r.failed(c, kindOf(err))
}

func (r *run) indexOf(c *conn) int { return int(c.next % int64(len(r.conns))) }

// joined takes the end of a handshake.
func (r *run) joined(c *conn) error {
	code, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		err = unix.Errno(code)
	}
	if err != nil {
		return r.failed(c, kindOf(err))
	}
	if _, err := unix.Getpeername(c.fd); errors.Is(err, unix.ENOTCONN) {
		return nil
	}
	r.plan.Options.quick(c.fd)
	if c.asker == nil {
		r.out.Locals.add(c.fd)
	}
	c.at, c.freeAt = free, r.now
	if c.several != nil {
		return r.settle(c)
	}
	if r.order.running {
		r.order.add(c, &r.plan)
	}
	return nil
}

// failed ends a connection, whose open request comes to nothing.
func (r *run) failed(c *conn, kind Kind) error {
	at := c.at
	switch {
	case c.several != nil && len(c.several.open) > len(c.several.again):
		r.loseOpen(c, kind)
	case c.several == nil && (c.at == asking || c.at == waiting):
		if c.counts(r) {
			r.lose(kind)
		}
		r.openChanged(-1)
		c.next += int64(len(r.conns))
	case kind != Closed: // of a connection without a request; that an idle one is closed is ordinary
		r.lose(kind)
	}
	if c.at == free {
		r.order.remove(c)
	}
	if c.fd >= 0 {
		if r.flow != nil {
			r.flow.leave(r, c.fd)
		}
		r.countWire(c)
		_ = unix.Close(c.fd)
	}
	c.fd, c.at, c.again = -1, away, r.now+beforeAgain
	if c.home != nil {
		r.left(c)
		return nil
	}
	if c.asker != nil {
		r.endAsker(c, kind, false, at)
		r.leaveOut(c, c.again)
		c.asker.unread = false
	}
	if r.order.running {
		r.order.add(c, &r.plan)
	}
	return nil
}

// giveUp ends what waits for too long. A datagram's socket goes on: nobody else is late for it.
func (r *run) giveUp() error {
	for i := range r.conns {
		c := &r.conns[i]
		var err error
		if c.several != nil && len(c.several.open) > 0 {
			err = r.giveUpOpen(c)
		}
		switch {
		case err != nil:
		case c.at == joining && r.logins == nil && r.now > c.joinBy:
			err = r.failed(c, r.kindOfJoin(c, NoConnect))
		case c.several == nil && (c.at == waiting || c.at == asking) && r.now > r.timeout(c):
			if r.plan.Target.Network == "tcp" {
				err = r.failed(c, NoAnswer)
				break
			}
			if c.counts(r) {
				r.lose(NoAnswer)
			}
			r.openChanged(-1)
			r.isFree(c)
		}
		if err != nil {
			return err
		}
	}
	for _, c := range r.leaving {
		if c != nil {
			if err := r.giveUpOpen(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) closeAll() {
	for i := range r.conns {
		r.closeOne(&r.conns[i])
	}
	for _, c := range r.leaving {
		if c != nil {
			r.closeOne(c)
		}
	}
}

func (r *run) closeOne(c *conn) {
	if c.fd >= 0 {
		r.countWire(c)
		_ = unix.Close(c.fd)
	}
}

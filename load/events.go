package load

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"

	"snag/load/protocol"
)

// changed takes what came on a connection.
func (r *run) changed(e unix.EpollEvent) error {
	if e.Fd == wakeNumber {
		return r.loggedInAll()
	}
	c := r.numbered(int(e.Fd))
	if c == nil {
		return nil
	}
	came := e.Events&(unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0
	switch c.at {
	case away:
		return nil
	case joining:
		c.asker.leave(came)
		return r.joined(c)
	case free:
		if c.asker.leave(came) {
			return nil
		}
	case asking:
		if err := r.answeredEarly(c, came); err != nil || c.at != asking {
			return err
		}
		if err := r.goOn(c); err != nil || c.at == away {
			return err
		}
	}
	if e.Events&unix.EPOLLOUT != 0 {
		if err := r.sendReply(c); err != nil || c.at == away {
			return err
		}
	}
	if !came {
		return nil
	}
	return r.read(c, e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP) != 0)
}

// answeredEarly takes what came while a request is not sent whole. It is read before the rest is sent: a service that
// refuses a request by its beginning answers, and closes the connection to what still comes.
func (r *run) answeredEarly(c *conn, came bool) error {
	if !came || c.datagrams || c.several != nil {
		return nil
	}
	return r.read(c, false)
}

// read takes what came. ended: the other side ended the connection, which no further event will say.
func (r *run) read(c *conn, ended bool) error {
	for c.at != away {
		n, at, err := r.receive(c)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, io.EOF):
			return r.ended(c)
		case err != nil:
			return r.failed(c, kindOf(err))
		}
		r.clock()
		r.plan.Options.quick(c.fd)
		now := r.now
		r.now = r.arrived(c, at)
		err = r.came(c, r.buf[:n])
		if r.now = max(r.now, now); err != nil || c.at == away {
			return err
		}
		if err := r.sendReply(c); err != nil {
			return err
		}
		if !c.datagrams && c.top == nil && !ended && n < len(r.buf) { // a short read of a stream was all there is (epoll(7))
			return nil
		}
		if c.asker.leave(c.at == free) {
			return nil
		}
	}
	return nil
}

// came takes what a connection received.
func (r *run) came(c *conn, b []byte) error {
	got, err := c.talk.Read(b)
	if c.several != nil {
		return r.cameForSeveral(c, got, err)
	}
	r.out.Unasked += int64(got.Stale)
	early := c.at == asking && !c.datagrams && !c.silent()
	if got.Done > 0 && (c.at == waiting || early) {
		if c.counts(r) {
			r.out.Odd += int64(min(got.Odd, 1))
		}
		if early {
			r.out.Early++
		}
		r.answered(c, min(got.Failed, 1))
		got.Done--
	}
	r.out.Unasked += int64(got.Done)
	switch {
	case errors.Is(err, protocol.ErrGoing):
		return r.failed(c, Closed)
	case err != nil:
		return r.failed(c, NoProtocol)
	case got.Last && c.at == free:
		r.out.Closed++
		return r.anew(c)
	case early && c.at == free: // the rest of the request would be taken for the next one
		return r.anew(c)
	}
	return nil
}

// ended takes the end of a connection, and of an answer that ends with it.
func (r *run) ended(c *conn) error {
	if p, ok := c.talk.(protocol.Ender); ok && (c.at == waiting || c.at == asking) {
		if got := p.End(); got.Done > 0 {
			r.clock()
			if c.at == asking {
				r.out.Early++
			}
			r.answered(c, got.Failed)
			r.out.Closed++
			return r.anew(c)
		}
	}
	return r.failed(c, Closed)
}

// anew has a connection made again at once.
func (r *run) anew(c *conn) error {
	if err := r.failed(c, Closed); err != nil {
		return err
	}
	if c.again = r.now; r.order.running {
		r.order.remove(c)
		r.order.add(c, &r.plan)
	}
	return nil
}

// sendReply sends what the protocol itself has to say, never within a request.
func (r *run) sendReply(c *conn) error {
	if p, ok := c.talk.(protocol.Replier); ok {
		c.reply = append(c.reply, p.Reply()...)
	}
	if c.wire != nil {
		if err := c.wire.flush(); err != nil {
			return r.failed(c, kindOf(err))
		}
	}
	for len(c.reply) > 0 && c.at != asking {
		n, err := c.send(c.reply)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return r.failed(c, kindOf(err))
		}
		c.reply = c.reply[n:]
	}
	if c.several != nil {
		return r.settle(c)
	}
	return nil
}

// end books what is left.
func (r *run) end() {
	r.openChanged(0)
	r.out.Open = r.area / (r.until - r.from).Seconds()
	r.out.Took = r.until - r.from
	r.out.Busy = 1 - r.waited.Seconds()/r.now.Seconds()
	r.out.CPU = threadCPU() - r.spent
	if r.flow != nil {
		r.out.Flow = r.flow.of(r.plan)
	}
	if r.sessions != nil {
		r.unanswered()
	}
	for i := range r.conns {
		c := &r.conns[i]
		switch {
		case c.several != nil:
			r.loseOpen(c, NoAnswer)
		case (c.at == asking || c.at == waiting) && c.counts(r):
			r.lose(NoAnswer)
			c.next += int64(len(r.conns))
		}
		if r.plan.Rate == 0 {
			continue
		}
		if r.plan.Times != nil {
			r.out.Behind += r.plan.Times.before(r.until, c.next, r.plan.Conns)
			continue
		}
		if last := int64(r.until.Seconds() * r.plan.Rate); c.next < last {
			r.out.Behind += (last - c.next + int64(len(r.conns)) - 1) / int64(len(r.conns))
		}
	}
	for _, c := range r.leaving {
		if c != nil {
			r.loseOpen(c, NoAnswer)
		}
	}
	if r.now > r.from+r.second.Began {
		r.endSecond(r.now)
	}
	if r.sessions != nil {
		r.out.Sessions = sessionsOf(r.sessions, r.out)
	}
}

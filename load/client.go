package load

import (
	"errors"
	"sync/atomic"
	"time"
)

// Client has a run ask as an ordinary client program does, and reports each of its requests. A connection is made
// when a request is due, and is part of that request, which fails with it. If the service closes a connection on
// which no request is open, the next request meets that and fails. Plan.Timeout counts from when a request was due.
// Of the Result, Asked and Behind follow the schedule of an open loop and have no meaning here; nor have CPU, Busy and
// RunDelay, as the run has no thread of its own. Wire and Locals are empty.
type Client struct {
	// Closed: a closed loop. A request that falls due while the one before is open is sent after it, and those that
	// would have been due until then are left out. A request is due when it is sent.
	Closed bool
	// Fresh: each request has a connection of its own.
	Fresh bool
	// Restarts, when it grows, has each connection leave out what fell due before. May be nil.
	Restarts *atomic.Int64
	// Paused reports whether no request is to begin now. May be nil.
	Paused func() bool
	// Began is called when a request begins, with when it was due; the connection may still have to be made. Ended
	// is called with what Began returned, and when the request ended. Kind is "" where there was an answer; isError:
	// the protocol calls it an error. Both are called on the load's own thread: they must be quick.
	Began func(due time.Time) (id int64)
	Ended func(id int64, at time.Time, kind Kind, isError bool)
}

func (p Plan) checkClient() error {
	switch c := p.Client; {
	case c == nil:
		return nil
	case c.Began == nil || c.Ended == nil:
		return errors.New("a client needs functions that its requests are reported to")
	case p.Rate == 0 || p.Streams > 1 || p.Sessions || p.PingPong || p.Bandwidth > 0 || p.Times != nil || p.Options.CPU >= 0 || p.Spin:
		return errors.New("a client asks at a rate, with one request open on each connection, on any CPU")
	}
	return nil
}

// asker is what a connection of a Client keeps.
type asker struct {
	open     bool // a request has begun; its connection may still be missing
	id       int64
	due      time.Duration // of that request
	moved    time.Duration // how much later than planned the schedule goes on
	restarts int64         // of Client.Restarts, those that it followed
	unread   bool          // something came while no request was open
}

// whilePaused is how often a connection asks whether the pause is over.
const whilePaused = 20 * time.Millisecond

// whileIdle is how long a Client sleeps at most while no request is open.
const whileIdle = 200 * time.Millisecond

// goOnAsking has a connection send its next request, or makes it before.
func (r *run) goOnAsking(c *conn) error {
	if a := c.asker; a != nil && !a.open {
		if r.plan.Client.Paused != nil && r.plan.Client.Paused() {
			a.moved = r.now + whilePaused - r.plan.due(c.next)
			r.order.add(c, &r.plan)
			return nil
		}
		r.beginAsker(c)
	}
	switch {
	case c.asker != nil && r.now > r.timeout(c):
		return r.failed(c, NoAnswer)
	case c.at == away:
		return r.join(c)
	}
	return r.ask(c)
}

func (r *run) beginAsker(c *conn) {
	a, client := c.asker, r.plan.Client
	if client.Restarts != nil {
		if n := client.Restarts.Load(); n != a.restarts {
			a.restarts, a.moved = n, r.now-r.plan.due(c.next)
		}
	}
	a.due = r.plan.due(c.next) + a.moved
	if client.Closed {
		a.due = r.now
	}
	r.asked++
	a.open, a.id = true, client.Began(r.began.Add(a.due))
}

// timeout is when the open request of a connection is given up.
func (r *run) timeout(c *conn) time.Duration {
	if c.asker != nil {
		return c.asker.due + r.plan.Timeout
	}
	return c.sent + r.plan.Timeout
}

// endAsker reports the end of a request. at is what its connection was doing.
func (r *run) endAsker(c *conn, kind Kind, isError bool, at at) {
	a := c.asker
	if !a.open {
		return
	}
	a.open = false
	r.asked--
	r.plan.Client.Ended(a.id, r.began.Add(r.now), kind, isError)
	if kind != "" && at != asking && at != waiting { // else it is the next one's turn already
		c.next += int64(len(r.conns))
	}
}

// leaveOut moves the schedule of a closed loop, so that no request was due before at.
func (r *run) leaveOut(c *conn, at time.Duration) {
	if r.plan.Client.Closed {
		c.asker.moved = max(c.asker.moved, at-r.plan.due(c.next))
	}
}

// askerAnswered takes the end of a request that was answered.
func (r *run) askerAnswered(c *conn, failed int) {
	r.endAsker(c, "", failed > 0, c.at)
	c.next += int64(len(r.conns))
	if c.at, c.freeAt = free, r.now; r.plan.Client.Fresh {
		r.closeOne(c)
		c.fd, c.at, c.again, c.base = -1, away, r.now, nil
	}
	r.leaveOut(c, r.now)
	r.order.add(c, &r.plan)
}

// leave notes that something came while no request was open. It reports whether that is left for the next request
// to read, as a client does that reads only when it has asked.
func (a *asker) leave(came bool) bool {
	if a == nil || !came {
		return false
	}
	a.unread = true
	return true
}

// readLate reads what came before the request, such as the end of the connection.
func (r *run) readLate(c *conn) error {
	if c.asker == nil || !c.asker.unread || c.at == away {
		return nil
	}
	c.asker.unread = false
	return r.read(c, true)
}

// kindOfJoin is why a connection was not made. For a client that is its request, which got no answer in time.
func (r *run) kindOfJoin(c *conn, kind Kind) Kind {
	if c.asker != nil && kind == NoConnect && r.now >= r.timeout(c) {
		return NoAnswer
	}
	return kind
}

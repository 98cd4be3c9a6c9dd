package load

import (
	"time"

	"snag/load/protocol"
)

// ask sends the next request of a connection that is free.
func (r *run) ask(c *conn) error {
	if c.several != nil {
		return r.askOneMore(c)
	}
	c.piece, c.wrote = 0, 0
	c.request = c.talk.Ask(c.next)
	r.begin(c, &c.openRequest)
	c.at = asking
	if err := r.goOn(c); err != nil {
		return err
	}
	return r.readLate(c)
}

// begin notes that the next request of a connection is sent now.
func (r *run) begin(c *conn, q *openRequest) {
	if q.due = r.plan.due(c.next); c.asker != nil {
		q.due = c.asker.due
	}
	q.readyAt, q.sent = max(q.due, c.freeAt), r.now
	if r.plan.Rate == 0 {
		q.due = q.readyAt
	}
	if q.counts(r) {
		r.out.Sent++
		r.second.Sent++
		note(r.out.Lag, q.sent-q.readyAt)
	}
	r.openChanged(1)
}

// goOn writes what is left of a request.
func (r *run) goOn(c *conn) error {
	whole, err := c.write()
	switch {
	case err != nil:
		return r.failed(c, kindOf(err))
	case !whole:
		return r.awaitRoom(c)
	}
	c.at = waiting
	r.taken++
	if c.silent() { // it is done when it was taken
		r.clock()
		r.answered(c, 0)
	}
	return nil
}

// silent reports whether no answer is awaited to the request.
func (c *conn) silent() bool {
	s, ok := c.talk.(protocol.Silent)
	return ok && s.Silent()
}

// counts reports whether the request is one of those that are measured: by when it was sent. Of a
// service that is overloaded those that are sent in the window were due long before it.
func (q *openRequest) counts(r *run) bool { return q.sent >= r.from && q.sent < r.until }

func (r *run) answered(c *conn, failed int) {
	r.finish(c, &c.openRequest, failed)
	if c.asker != nil {
		r.askerAnswered(c, failed)
		return
	}
	r.isFree(c)
}

// finish notes the answer of a request.
func (r *run) finish(c *conn, q *openRequest, failed int) {
	if c.base == nil && c.asker == nil { // what the kernel counts is for a load's result
		r.firstAnswer(c)
	}
	if r.now >= r.from && r.now < r.until {
		r.out.Answers++
		r.out.growth.add(r.now.Seconds(), (r.now - q.due).Seconds())
	}
	if r.sessions != nil {
		r.sessions[r.indexOf(c)].answered(r, q)
	}
	if q.counts(r) {
		r.out.Done++
		r.out.Failed += int64(failed)
		note(r.out.FromDue, r.now-q.due)
		if r.plan.Deadline > 0 && r.now-q.due > r.plan.Deadline {
			r.out.Late++
		}
		note(r.out.FromSent, r.now-q.sent)
		r.took(q, failed)
	}
	r.openChanged(-1)
}

func (r *run) isFree(c *conn) {
	c.at, c.freeAt = free, r.now
	c.next += int64(len(r.conns))
	r.order.add(c, &r.plan)
}

// openChanged keeps the area under the number of open requests, of the time that counts. Of an answer that came before
// it was read the time since then is taken back.
func (r *run) openChanged(by int) {
	if r.now < r.opened {
		r.addArea(by, r.now, r.opened)
	} else {
		r.openUntil(r.now)
	}
	r.open += by
}

func (r *run) openUntil(at time.Duration) {
	r.addArea(r.open, r.opened, at)
	r.opened = at
}

func (r *run) addArea(open int, from, to time.Duration) {
	if from, to = max(from, r.from), min(to, r.until); to > from {
		area := float64(open) * (to - from).Seconds()
		r.area += area
		r.secondArea += area
	}
}

package load

import (
	"errors"
	"slices"
	"time"

	"snag/load/protocol"
)

// several is what a connection needs that carries several requests at a time. Its requests are sent in their order as
// they are due, each on a stream of its own, while there is room. What is sent waits in conn.reply until the socket
// takes it.
type several struct {
	talk  protocol.Many
	open  map[int64]openRequest // by their numbers
	again []int64               // of these: the other side did not take them, and they are to be sent again
	heard time.Duration         // when something came last
	full  bool                  // there was no room
	// byLimit: there was none as the other side allows no more.
	byLimit bool
	going   bool // the other side ends the connection
	took    bool // the other side took a request over it
}

// Streams is what became of several requests on one connection.
type Streams struct {
	// Limit is the fewest requests that the other side allowed on a connection at a time
	// (SETTINGS_MAX_CONCURRENT_STREAMS), where that is fewer than the plan's; nil: it allowed them.
	Limit *int
	// Waited is how many requests were due and waited as the other side allowed no more.
	Waited int64
	// Again is how many requests were sent once more, as the other side ended the connection and had not begun with
	// them. Their times are since they were sent first.
	Again int64
}

// on is the same on a new connection: what was not taken is sent there.
func (s *several) on(talk protocol.Many) *several {
	if s == nil {
		return &several{talk: talk, open: map[int64]openRequest{}}
	}
	return &several{talk: talk, open: s.open, again: s.again}
}

// askOneMore sends the next request of a connection that has room for it.
func (r *run) askOneMore(c *conn) error {
	s, q := c.several, openRequest{}
	r.begin(c, &q)
	if s.byLimit && (q.due < c.freeAt || r.plan.Rate == 0) && q.counts(r) {
		r.out.Streams.Waited++
	}
	s.open[c.next] = q
	c.put(c.next)
	c.next += int64(len(r.conns))
	return r.sendReply(c)
}

// put has a request sent.
func (c *conn) put(number int64) {
	for _, b := range c.several.talk.Ask(number) {
		c.reply = append(c.reply, b...)
	}
}

// room is how many more requests can be open. byLimit: it is none as the other side allows no more.
func (r *run) room(c *conn) (n int, byLimit bool) {
	limit, said := c.several.talk.Limit()
	if least := r.out.Streams.Limit; said && limit < r.plan.Streams && (least == nil || limit < *least) {
		r.out.Streams.Limit = &limit
	}
	if len(c.reply) > 0 || c.wire != nil && len(c.wire.out) > 0 {
		return 0, false
	}
	n = max(0, min(r.plan.Streams, limit)-(len(c.several.open)-len(c.several.again)))
	return n, n == 0 && said && limit < r.plan.Streams
}

// settle puts a connection where it belongs after something changed on it: among those that wait for their next
// request, or not.
func (r *run) settle(c *conn) error {
	s := c.several
	if c.at != free && c.at != waiting {
		return nil
	}
	n, byLimit := r.room(c)
	if n > 0 && len(s.again) > 0 {
		number := s.again[0]
		s.again = s.again[1:]
		r.out.Streams.Again++
		c.put(number)
		return r.sendReply(c) // which comes here again
	}
	switch {
	case s.going && c.home != nil && len(s.open) == 0:
		return r.failed(c, Closed)
	case s.going && c.home == nil:
		return r.leave(c)
	case n == 0:
		if c.at = waiting; !s.full {
			s.full, s.byLimit = true, byLimit
		}
		r.order.remove(c)
		return nil
	case s.full:
		s.full, c.freeAt = false, r.now
	}
	c.at = free
	if r.order.running && c.heapAt < 0 {
		r.order.add(c, &r.plan)
	}
	return nil
}

// cameForSeveral takes what ended in one read.
func (r *run) cameForSeveral(c *conn, got protocol.Got, err error) error {
	s := c.several
	s.heard, s.going = r.now, got.Last
	for _, e := range s.talk.Ended() {
		q, open := s.open[e.Number]
		switch {
		case !open: // it cannot be: the conversation knows its requests from here
		case e.Untaken:
			delete(s.open, e.Number)
			c.athome().several.takes(e.Number, q)
		default:
			delete(s.open, e.Number)
			s.took = true
			failed := 0
			if e.Failed {
				failed = 1
			}
			r.finish(c, &q, failed)
		}
	}
	if err != nil && !errors.Is(err, protocol.ErrGoing) {
		return r.failed(c, NoProtocol)
	}
	if c.home != nil {
		if err := r.settle(c.home); err != nil {
			return err
		}
	}
	return r.settle(c)
}

// takes has a request sent again.
func (s *several) takes(number int64, q openRequest) {
	s.open[number] = q
	s.again = append(s.again, number)
}

// loseOpen notes that the requests of a connection come to nothing. Those that are sent again are not among them,
// unless the run is over.
func (r *run) loseOpen(c *conn, kind Kind) {
	for number, q := range c.several.open {
		if r.now < r.until && slices.Contains(c.several.again, number) {
			continue
		}
		if q.counts(r) {
			r.lose(kind)
		}
		r.openChanged(-1)
		delete(c.several.open, number)
	}
}

// giveUpOpen ends the requests of a connection that wait for too long. If nothing at all came since one was sent, the
// connection is given up, as with one request on it.
func (r *run) giveUpOpen(c *conn) error {
	s := c.several
	for number, q := range s.open {
		if r.now-q.sent <= r.plan.Timeout {
			continue
		}
		again := slices.Index(s.again, number)
		if again < 0 && s.heard < q.sent {
			return r.failed(c, NoAnswer)
		}
		if again >= 0 {
			s.again = slices.Delete(s.again, again, again+1)
		} else {
			s.talk.Cancel(number)
		}
		if q.counts(r) {
			r.lose(NoAnswer)
		}
		r.openChanged(-1)
		delete(s.open, number)
	}
	if c.at == away || c.at == joining {
		return nil
	}
	return r.sendReply(c)
}

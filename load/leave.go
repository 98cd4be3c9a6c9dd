package load

import (
	"fmt"
	"slices"
)

// A connection with several requests that the other side ends (GOAWAY) leaves: answers are still read from it, and
// no more requests are sent. Its place is free for a new one at once, as real clients have it, so that requests which
// are due meanwhile do not wait for the last answer.

// leave makes room for a new connection. Requests that the other side did not begin with stay for that one.
func (r *run) leave(c *conn) error {
	r.order.remove(c)
	s := c.several
	if s.took = s.took || len(s.open) > len(s.again); s.took {
		r.out.Closed++
	}
	if len(s.open) == len(s.again) {
		return r.another(c)
	}
	old := *c
	old.home = c
	old.several = &several{talk: s.talk, open: map[int64]openRequest{}, heard: s.heard, going: true, took: true}
	for number, q := range s.open {
		if !slices.Contains(s.again, number) {
			old.several.open[number] = q
			delete(s.open, number)
		}
	}
	c.fd, c.wire, c.top, c.reply, c.base = -1, nil, nil, nil, nil
	if err := r.poll.renumber(old.fd, r.place(&old)); err != nil {
		return fmt.Errorf("watch a socket: %w", err)
	}
	if err := r.another(c); err != nil {
		return err
	}
	if err := r.sendReply(&old); err != nil || old.at == away {
		return err
	}
	return r.read(&old, false) // TLS may have more than the socket
}

// another has a new connection made: at once, or after a while if this one was of no use.
func (r *run) another(c *conn) error {
	if c.several.took {
		return r.anew(c)
	}
	return r.failed(c, Closed)
}

// place keeps a connection that leaves. It returns its number for the poller.
func (r *run) place(c *conn) int {
	i := slices.Index(r.leaving, nil)
	if i < 0 {
		i, r.leaving = len(r.leaving), append(r.leaving, nil)
	}
	r.leaving[i] = c
	return len(r.conns) + i
}

// left forgets a connection that is closed.
func (r *run) left(c *conn) { r.leaving[slices.Index(r.leaving, c)] = nil }

// numbered is the connection with a number of the poller; nil: it left meanwhile.
func (r *run) numbered(n int) *conn {
	if n < len(r.conns) {
		return &r.conns[n]
	}
	return r.leaving[n-len(r.conns)]
}

// athome is where a connection is, or was before it left.
func (c *conn) athome() *conn {
	if c.home != nil {
		return c.home
	}
	return c
}

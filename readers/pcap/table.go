package pcap

import (
	"net/netip"

	"snag/internal/packet"
	"snag/internal/recency"
)

// Bounds of what is followed at a time.
const (
	maxConns = 12_000 // of about 2.7 KB each
	// lingers: a closed connection's late segments must not look like a new one.
	lingers = int64(3e9)
	// forgets: connections without a packet for so long make room; they may come back
	// as ones that began before the capture.
	forgets = int64(900e9)
)

// key is a connection, whichever way: the smaller end first.
type key struct{ a, b netip.AddrPort }

// keyOf also reports which end sent: 0 is a.
func keyOf(src, dst netip.AddrPort) (key, int) {
	if sp, dp := src.Port(), dst.Port(); sp < dp || sp == dp && src.Addr().Compare(dst.Addr()) <= 0 {
		return key{src, dst}, 0
	}
	return key{dst, src}, 1
}

// table holds connections by their ends, and in the order in which they last spoke.
type table struct {
	conns map[key]*conn
	free  *conn // that ended: used again, linked by spare
	cache *conn // the one of the last packet
	order recency.List[conn, *conn]
	// Closing are those that ended, by when.
	closing []leaving
	end     func(c *conn, why ending)
	// Evicted made room for others while they stood.
	evicted uint64
}

// find gives the connection of a segment and the side that sent it.
func (t *table) find(s *segment) (*conn, int) {
	k, side := keyOf(s.src, s.dst)
	c := t.cache
	if c == nil || c.key != k {
		c = t.conns[k]
	}
	if c != nil && s.has(packet.SYN) && c.reusedBy(s, side) {
		t.remove(c, endReused)
		c = nil
	}
	if c == nil {
		c = t.add(k, s)
	}
	t.cache = c
	c.last = s.at
	t.order.Use(c)
	return c, side
}

func (t *table) add(k key, s *segment) *conn {
	for len(t.conns) >= maxConns {
		oldest := t.order.Oldest()
		if oldest.done == 0 {
			t.evicted++
		}
		t.remove(oldest, endRoom)
	}
	c := t.free
	if c != nil {
		t.free = c.spare
		*c = conn{gen: c.gen}
	} else {
		c = &conn{}
	}
	c.key, c.first, c.client = k, s.at, -1
	t.conns[k] = c
	t.order.Add(c)
	return c
}

// expire forgets what closed a while ago, and what was silent for very long.
func (t *table) expire(at int64) {
	for len(t.closing) > 0 && at-t.closing[0].at > lingers {
		d := t.closing[0]
		t.closing = t.closing[1:]
		if d.c.gen == d.gen {
			t.remove(d.c, endClosed)
		}
	}
	for c := t.order.Oldest(); c != nil && at-c.last > forgets; c = t.order.Oldest() {
		t.remove(c, endSilence)
	}
}

// leaving is a connection that closed, and when.
type leaving struct {
	c   *conn
	gen uint32
	at  int64
}

// closed notes that a connection ended: late segments of it may still come.
func (t *table) closed(c *conn, at int64) {
	t.closing = append(t.closing, leaving{c, c.gen, at})
}

func (t *table) remove(c *conn, why ending) {
	delete(t.conns, c.key)
	t.order.Remove(c)
	t.end(c, why)
	c.key = key{}
	if t.cache == c {
		t.cache = nil
	}
	c.gen++
	c.spare = t.free
	t.free = c
}

func (t *table) close() {
	for c := t.order.Oldest(); c != nil; c = t.order.Oldest() {
		t.remove(c, endCapture)
	}
}

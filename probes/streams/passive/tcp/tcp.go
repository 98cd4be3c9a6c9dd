// Package tcp puts the captured segments of TCP connections back in order and
// hands the bytes of each direction on, once and without keeping them. What the
// capture does not have is told as a hole of so many bytes, never guessed over.
// It is pure: time comes in with the packets.
//
// All that is held is what came out of order, within bounds: MaxHeld a direction,
// MaxHeldAll in all, MaxConns connections, of which the longest silent makes room.
package tcp

import (
	"net/netip"
	"time"

	"snag/internal/packet"
	"snag/internal/recency"
)

// Bounds, and their reasons.
const (
	MaxHeld    = 256 << 10 // bytes of one direction, out of order
	MaxHeldAll = 64 << 20  // bytes of all directions together
	MaxSegs    = 1024      // pieces of one direction, out of order
	MaxConns   = 16384

	// idle: a connection that said nothing for so long is forgotten. RTMP pings
	// every minute and RTSP keeps alive within 60 s.
	idle = 3 * time.Minute
	// linger: a closed connection's late segments must not look like a new one.
	linger = 10 * time.Second
	// grace: an acknowledgment of bytes that the capture has not shown yet proves
	// a loss only after so long: queues of one NIC may be captured out of order.
	grace = 50 * time.Millisecond
	// oneWay: where nothing of the peer is captured, no acknowledgment can prove a
	// loss of the capture's; a sender repeats what the network lost sooner than that
	// (RFC 6298, 2.4: its timeout is 1 s to begin with, on Linux 200 ms).
	oneWay = time.Second
	// window: a segment further away than the largest window (RFC 7323, 2.3) is
	// not of this connection's present.
	window = 1 << 30
)

// Handler takes the bytes of one direction, in order. at is the monotonic clock
// in ns: when the packet was captured that made them deliverable.
type Handler interface {
	// Data takes bytes; they are good until it returns. false: no more of this
	// direction is wanted, and none of it will be held.
	Data(at int64, b []byte) bool
	// Hole says that n bytes were on the wire that the capture does not have; 0:
	// nobody knows how many.
	Hole(at int64, n int64) bool
	// Closed ends the direction; why is "FIN", "RST", "silence", "room" (too many
	// connections), "reused" (the ports by a new connection) or "capture" (its end).
	Closed(at int64, why string)
}

// Flow is a direction of a connection.
type Flow struct {
	Src, Dst netip.AddrPort
	// Client says whether Src opened the connection; Known whether that was seen.
	Client, Known bool
	// Start says that the direction was seen from its first byte on.
	Start bool
}

// Assembler follows connections.
type Assembler struct {
	// New is called at the first segment of a connection, and gives the handlers of
	// the two directions: of what f.Src sends, and of what f.Dst sends. nil for
	// one that is not wanted. f.Client is true where f.Src opened it.
	New func(at int64, f Flow) (forward, back Handler)

	conns map[key]*conn
	order recency.List[conn, *conn]
	held  int
	free  []segment
	Stats Stats
}

// Stats count since the beginning.
type Stats struct {
	Segments  uint64 // with payload
	Repeated  uint64 // segments that brought nothing new
	Disorder  uint64 // segments that came before their turn
	Lost      uint64 // bytes that the capture does not have
	Forgotten uint64 // connections that made room for others
}

// key is a connection, whichever way: the smaller end first.
type key struct{ a, b netip.AddrPort }

type conn struct {
	key
	dir   [2]half // what a sends, what b sends
	seen  [2]bool // that a sends anything, that b does
	last  int64   // ns
	done  int64   // when it was closed, 0: not yet
	links recency.Links[conn]
}

// Recency are its links among the connections.
func (c *conn) Recency() *recency.Links[conn] { return &c.links }

// Add takes a captured TCP segment.
func (a *Assembler) Add(at int64, p *packet.Packet) {
	a.Expire(at)
	k, side := key{p.Src, p.Dst}, 0
	if p.Dst.Compare(p.Src) < 0 {
		k, side = key{p.Dst, p.Src}, 1
	}
	c := a.conns[k]
	if p.Flags&packet.SYN != 0 && c != nil && c.reused(side, p) {
		a.end(at, c, "reused")
		a.remove(c)
		c = nil
	}
	if c == nil {
		if p.Flags&packet.RST != 0 || p.Flags&packet.SYN == 0 && p.Len == 0 {
			return // nothing to follow yet
		}
		c = a.add(at, k, side, p)
	}
	c.last = at
	a.order.Use(c)
	if c.done != 0 {
		return
	}
	if p.Flags&packet.ACK != 0 {
		c.dir[1-side].acked(at, p.Ack)
	}
	c.seen[side] = true
	h := &c.dir[side]
	if p.Flags&packet.RST != 0 {
		if h.inWindow(p.Seq) {
			a.end(at, c, "RST")
		}
		return
	}
	h.segment(a, at, p)
	if !c.seen[1-side] {
		h.flushAlone(a, at)
	}
	c.dir[1-side].flush(a, at)
	if c.dir[0].closed && c.dir[1].closed && c.done == 0 {
		c.done = at
	}
}

// Close ends every connection: the capture is over.
func (a *Assembler) Close(at int64) {
	for c := a.order.Oldest(); c != nil; c = a.order.Oldest() {
		a.end(at, c, "capture")
		a.remove(c)
	}
}

// Expire forgets the connections that were silent for too long.
func (a *Assembler) Expire(at int64) {
	for c := a.order.Oldest(); c != nil; c = a.order.Oldest() {
		quiet := at - c.last
		if quiet <= int64(idle) && (c.done == 0 || quiet <= int64(linger)) {
			return
		}
		a.end(at, c, "silence")
		a.remove(c)
	}
}

// reused tells a new connection on old ports from a SYN that came twice.
func (c *conn) reused(side int, p *packet.Packet) bool {
	h := &c.dir[side]
	if p.Flags&packet.ACK != 0 || h.begun && h.start && h.isn == p.Seq {
		return h.begun && h.start && h.isn != p.Seq
	}
	return h.begun || c.done != 0
}

func (a *Assembler) add(at int64, k key, side int, p *packet.Packet) *conn {
	if a.conns == nil {
		a.conns = map[key]*conn{}
	}
	if len(a.conns) >= MaxConns {
		a.Stats.Forgotten++
		c := a.order.Oldest()
		a.end(at, c, "room")
		a.remove(c)
	}
	c := &conn{key: k}
	syn := p.Flags&packet.SYN != 0
	f := Flow{Src: p.Src, Dst: p.Dst, Known: syn, Start: syn, Client: syn && p.Flags&packet.ACK == 0}
	forward, back := a.New(at, f)
	c.dir[side].to, c.dir[1-side].to = forward, back
	for i := range c.dir {
		c.dir[i].closed = c.dir[i].to == nil
	}
	a.conns[k] = c
	a.order.Add(c)
	return c
}

// end tells both directions, once.
func (a *Assembler) end(at int64, c *conn, why string) {
	if c.done == 0 {
		c.done = at
	}
	for i := range c.dir {
		c.dir[i].finish(a, at, why)
	}
}

func (a *Assembler) remove(c *conn) {
	a.order.Remove(c)
	delete(a.conns, c.key)
}

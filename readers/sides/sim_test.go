package sides

import (
	"container/heap"
	"math/rand/v2"
	"net/netip"
	"time"

	"snag/internal/packet"
)

// The simulator: two hosts with a clock and a capture each, a network between that
// delays, loses and reorders each way by itself, offloads that cut at the sender and
// merge at the receiver, and a NAT. TCP is as simple as it can be and still retransmit.

const simMSS = 1448

// network is one way.
type network struct {
	delay, jitter time.Duration
	loss, reorder float64
	dark          []darkness // nothing passes
	last          int64      // when the last segment in order comes
}

type darkness struct{ from, to int64 }

// wallClock is a host's: what it shows at a true time.
type wallClock struct {
	ahead time.Duration
	drift float64
}

func (c wallClock) at(t int64) int64 {
	return simEpoch + t + int64(c.ahead) + int64(float64(t)*c.drift)
}

const simEpoch = int64(1_790_000_000e9)

// ask is one request of a simulated connection.
type ask struct {
	after         time.Duration // since the last answer
	bytes, answer int
	delay         time.Duration // of the server
	head          string        // HTTP, else bytes that mean nothing
	// Stalls: the server in the middle of its answer; the client in the middle of its
	// request.
	inAnswer, inRequest time.Duration

	kind string // what the test did to it: server, out, back, "" nothing
	// What happened, true times, ns.
	lastSent, lastCame, firstLeft, firstCame int64
}

type simSegment struct {
	dir  int
	seq  int64 // offset from the ISN + 1; -1: the SYN
	n    int
	ack  int64
	syn  bool
	tick uint32
	data []byte
}

type simConn struct {
	s        *sim
	client   netip.AddrPort
	server   netip.AddrPort
	outside  netip.AddrPort // the client as the server sees it (NAT)
	isn      [2]uint32
	shift    [2]uint32 // what a firewall adds to the numbers, seen at the server
	stampOff [2]uint32
	net      [2]*network
	asks     []*ask
	tso, gro bool

	ends   [2]*simEnd
	turnAt int
}

// simEnd is one end of a connection: it sends direction dir.
type simEnd struct {
	c        *simConn
	dir      int
	una, nxt int64 // sent and not yet acknowledged; next to send
	have     int64 // bytes the application gave
	payload  map[int64][]byte
	got      int64 // contiguous bytes received
	later    map[int64]int
	peerTick uint32
	timer    int64 // generation of the retransmission timer
	rto      int64
	queue    []simSegment // arrived, waits for GRO's flush
	flushing bool
	open     bool
}

type sim struct {
	now    int64
	rnd    *rand.Rand
	events simEvents
	n      int
	clock  [2]wallClock
	taken  [2][]byte // the captures' files
	middle []byte    // of a capture a third of the way from the client, which a loss lies behind
	snap   [2]int
	start  [2]int64 // when a capture begins
	conns  []*simConn
}

type simEvent struct {
	at int64
	n  int
	do func()
}
type simEvents []simEvent

func (e simEvents) Len() int { return len(e) }
func (e simEvents) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].n < e[j].n
}
func (e simEvents) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *simEvents) Push(x any)   { *e = append(*e, x.(simEvent)) }
func (e *simEvents) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

func (s *sim) in(d int64, do func()) {
	s.n++
	heap.Push(&s.events, simEvent{s.now + d, s.n, do})
}

func (s *sim) run() {
	for len(s.events) > 0 {
		e := heap.Pop(&s.events).(simEvent)
		s.now = e.at
		e.do()
	}
}

// open starts a connection.
func (c *simConn) open() {
	for dir := range c.ends {
		c.ends[dir] = &simEnd{c: c, dir: dir, payload: map[int64][]byte{}, later: map[int64]int{}, rto: 200e6}
	}
	c.send(simSegment{dir: request, seq: -1, syn: true})
}

// host is who sends a direction.
func host(dir int) int { return dir }

func (c *simConn) tickOf(dir int) uint32 { return c.stampOff[dir] + uint32(c.s.now/1e6) }

// send captures a segment at its sender and hands it to the network.
func (c *simConn) send(g simSegment) {
	s := c.s
	g.tick = c.tickOf(g.dir)
	s.capture(host(g.dir), c, g)
	n := c.net[g.dir]
	for from := 0; from == 0 || from < g.n; from += simMSS { // TSO: the wire has single segments
		part := g
		if g.n > simMSS {
			part.seq, part.n = g.seq+int64(from), min(simMSS, g.n-from)
			if from < len(g.data) {
				part.data = g.data[from:min(len(g.data), from+part.n)]
			} else {
				part.data = nil
			}
		}
		lost := s.rnd.Float64() < n.loss
		for _, d := range n.dark {
			lost = lost || s.now >= d.from && s.now < d.to
		}
		if lost {
			if g.dir == request { // behind the middle: it came so far
				echo := c.ends[g.dir].peerTick
				s.in(int64(n.delay)/3, func() { s.middle = s.packet(s.middle, 0, c, part, echo) })
			}
			continue
		}
		delay := int64(n.delay) + int64(s.rnd.Float64()*float64(n.jitter)) + int64(from)*8/10 // 10 Gb/s
		if s.rnd.Float64() < n.reorder {                                                      // others overtake it; else the order is kept
			delay += int64(3 * time.Millisecond)
		} else {
			delay = max(delay, n.last-s.now)
			n.last = s.now + delay
		}
		echo := c.ends[g.dir].peerTick
		at := delay / 3
		if g.dir == answer {
			at = delay - delay/3
		}
		s.in(at, func() { s.middle = s.packet(s.middle, 0, c, part, echo) })
		s.in(delay, func() { c.ends[1-part.dir].arrive(part) })
	}
	if g.syn && g.dir == request {
		s.in(1e9, func() {
			if !c.ends[request].open {
				c.send(g)
			}
		})
	}
}

// arrive puts a segment where GRO waits for more.
func (e *simEnd) arrive(g simSegment) {
	if !e.c.gro {
		e.deliver(g)
		return
	}
	e.queue = append(e.queue, g)
	if e.flushing {
		return
	}
	e.flushing = true
	e.c.s.in(8000, func() {
		q := e.queue
		e.queue, e.flushing = nil, false
		for len(q) > 0 {
			g := q[0]
			q = q[1:]
			for len(q) > 0 && g.n > 0 && q[0].n > 0 && q[0].seq == g.seq+int64(g.n) && q[0].tick == g.tick && g.n < 60000 {
				g.data = append(append([]byte(nil), g.data...), q[0].data...)
				g.n += q[0].n
				q = q[1:]
			}
			e.deliver(g)
		}
	})
}

// deliver is the receiver's kernel: the capture sees it first.
func (e *simEnd) deliver(g simSegment) {
	c := e.c
	c.s.capture(1-host(g.dir), c, g)
	e.peerTick = g.tick
	switch {
	case g.syn && e.dir == answer:
		if g.seq == -1 && !e.open || g.seq == -1 {
			c.send(simSegment{dir: answer, seq: -1, syn: true})
		}
		e.open = true
		return
	case g.syn:
		if !e.open {
			e.open = true
			c.send(simSegment{dir: request, seq: 0, ack: 0})
			c.next()
		} else {
			c.send(simSegment{dir: request, seq: e.nxt, ack: e.got})
		}
		return
	}
	if g.ack > e.una {
		e.una = g.ack
		e.rto = 200e6
		e.arm()
		e.push()
	}
	if g.n == 0 {
		return
	}
	if g.seq+int64(g.n) > e.got {
		e.later[g.seq] = max(e.later[g.seq], g.n)
	}
	before := e.got
	for again := true; again; {
		again = false
		for at, n := range e.later {
			if at <= e.got {
				delete(e.later, at)
				e.got = max(e.got, at+int64(n))
				again = true
			}
		}
	}
	c.send(simSegment{dir: e.dir, seq: e.nxt, ack: e.got})
	if e.got > before {
		c.received(e, before)
	}
}

// give hands bytes of the application to the sender.
func (e *simEnd) give(n int, head string) {
	if head != "" {
		e.payload[e.have] = []byte(head)
	}
	e.have += int64(n)
	e.push()
}

const simWindow = 20 * simMSS

func (e *simEnd) push() {
	for e.nxt < e.have && e.nxt-e.una < simWindow {
		most := int64(simMSS)
		if e.c.tso {
			most *= int64(1 + e.c.s.rnd.IntN(6))
		}
		n := min(most, e.have-e.nxt, simWindow-(e.nxt-e.una))
		e.c.send(e.segment(e.nxt, int(n)))
		e.nxt += n
		e.arm()
	}
}

func (e *simEnd) segment(at int64, n int) simSegment {
	return simSegment{dir: e.dir, seq: at, n: n, ack: e.got, data: e.payload[at]}
}

// arm starts the retransmission timer anew.
func (e *simEnd) arm() {
	e.timer++
	mine := e.timer
	if e.una == e.nxt {
		return
	}
	e.c.s.in(e.rto, func() {
		if e.timer == mine && e.una < e.nxt {
			e.rto *= 2
			e.c.send(e.segment(e.una, int(min(simMSS, e.nxt-e.una))))
			e.arm()
		}
	})
}

// next sends the next request.
func (c *simConn) next() {
	if c.turnAt >= len(c.asks) {
		return
	}
	a := c.asks[c.turnAt]
	c.s.in(int64(a.after), func() {
		e := c.ends[request]
		now := c.s.now
		switch a.kind {
		case "out":
			c.net[request].dark = append(c.net[request].dark, darkness{now, now + int64(a.delay)})
		case "back":
			c.net[answer].dark = append(c.net[answer].dark, darkness{now, now + int64(a.delay)})
		}
		if a.inRequest > 0 {
			e.give(a.bytes/2, a.head)
			c.s.in(int64(a.inRequest), func() { e.give(a.bytes-a.bytes/2, ""); a.lastSent = c.s.now })
			return
		}
		e.give(a.bytes, a.head)
		a.lastSent = now
	})
}

// received is the application at one end.
func (c *simConn) received(e *simEnd, before int64) {
	now := c.s.now
	a := c.asks[min(c.turnAt, len(c.asks)-1)]
	out, back := int64(0), int64(0)
	for _, b := range c.asks[:c.turnAt] {
		out, back = out+int64(b.bytes), back+int64(b.answer)
	}
	if e.dir == answer { // the server
		if c.turnAt < len(c.asks) && before < out+int64(a.bytes) && e.got >= out+int64(a.bytes) {
			a.lastCame = now
			wait := a.delay
			if a.kind == "out" || a.kind == "back" {
				wait = time.Millisecond
			}
			c.s.in(int64(wait), func() {
				a.firstLeft = c.s.now
				head := ""
				if a.head != "" {
					head = answerHead(a.answer)
				}
				if a.inAnswer > 0 {
					e.give(a.answer/2, head)
					c.s.in(int64(a.inAnswer), func() { e.give(a.answer-a.answer/2, "") })
					return
				}
				e.give(a.answer, head)
			})
		}
		return
	}
	if before <= back && e.got > back && a.firstCame == 0 {
		a.firstCame = now
	}
	if e.got >= back+int64(a.answer) {
		c.turnAt++
		c.next()
	}
}

// answerHead is an HTTP head of an answer that is so long in all.
func answerHead(all int) string {
	for n := all; ; n-- {
		head := "HTTP/1.1 200 OK\r\nContent-Length: " + itoa(n) + "\r\n\r\n"
		if len(head)+n == all {
			return head
		}
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

// capture writes a segment as a host sees it.
func (s *sim) capture(at int, c *simConn, g simSegment) {
	if s.now < s.start[at] {
		return
	}
	s.taken[at] = s.packet(s.taken[at], at, c, g, c.ends[g.dir].peerTick)
}

// packet appends a segment as a capture on a host's side of the NAT has it.
func (s *sim) packet(to []byte, at int, c *simConn, g simSegment, echo uint32) []byte {
	src, dst := c.client, c.server
	if at == 1 {
		src = c.outside
	}
	seqDir, ackDir := g.dir, 1-g.dir
	seq, ack := c.isn[seqDir]+1+uint32(g.seq), c.isn[ackDir]+1+uint32(g.ack)
	if at == 1 {
		seq, ack = seq+c.shift[seqDir], ack+c.shift[ackDir]
	}
	if g.dir == answer {
		src, dst = dst, src
	}
	flags := uint8(packet.ACK)
	if g.syn {
		flags = packet.SYN
		if g.dir == answer {
			flags |= packet.ACK
		} else {
			ack = 0
		}
	}
	return appendPacket(to, s.clock[at].at(s.now), src, dst, seq, ack, flags, g.syn, g.tick, echo, g.n, g.data, s.snap[at])
}

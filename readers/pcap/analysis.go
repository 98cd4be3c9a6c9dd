package pcap

import (
	"net/netip"

	capture "snag/internal/pcap"
	"snag/internal/pcapfilter"
	"snag/recording"
)

// second is the length of a row's time, ns.
const second = int64(1e9)

// analysis follows a capture and writes its rows, a second's at a time.
type analysis struct {
	out         recording.Sink
	netns       uint64
	conns       table
	begin       int64 // of the first packet; 0: none came
	now         int64 // when the second began that is being counted
	last        int64
	touched     []*conn // that spoke in it, or have a turn open
	pairs       map[pairKey]*pair
	hands       map[netip.AddrPort]*recording.Handshakes
	resets      map[resetKey]uint64
	listing     listing
	count       totals
	order       order
	only        pcapfilter.Filter // nil: all packets
	tooBig      map[icmpKey]*tooBig
	undelivered map[icmpKey]*undelivered
	flows       int     // rows of flows written
	from, to    int64   // that is asked for; 0: all
	tracked     int     // connections whose segments are kept
	drawn       []drawn // those that are written in the end, the one that is worth most first
	dropped     uint64  // packets, by the capture's own count
	interfaces  []capture.Interface
	cookie      uint64

	datagrams datagrams
	media     *media // nil: streams are not followed
	sip       *sipStreams
}

// totals of the whole capture.
type totals struct {
	Packets, TCP, UDP, Other, Unread uint64
	Connections                      uint64
	Resent, Reordered, Resets        uint64
	Copies, Missed                   uint64
	LeftOut                          uint64 // flows without a row of their own
	CutOptions                       uint64 // TCP headers cut by the snap length
	Clipped                          uint64 // packets cut by the snap length
	Timeless                         uint64
}

func newAnalysis(out recording.Sink, netns uint64) *analysis {
	a := &analysis{out: out, netns: netns, pairs: map[pairKey]*pair{}, hands: map[netip.AddrPort]*recording.Handshakes{}, resets: map[resetKey]uint64{}}
	a.conns.conns = map[key]*conn{}
	a.conns.end = a.ended
	a.listing.every = 1
	a.tooBig, a.undelivered = map[icmpKey]*tooBig{}, map[icmpKey]*undelivered{}
	a.datagrams = newDatagrams()
	a.sip = newSIPStreams(a)
	return a
}

// take takes the next packet.
func (a *analysis) take(s *segment) {
	a.tick(s.at)
	c, side := a.conns.find(s)
	if c.half[0].packets+c.half[1].packets == 0 {
		a.track(c)
	}
	if !c.touched {
		c.touched = true
		a.touched = append(a.touched, c)
	}
	c.take(a, s, side)
}

// tick ends seconds that are over.
func (a *analysis) tick(at int64) {
	if a.begin == 0 {
		a.begin, a.now = at, at
	}
	a.last = max(a.last, at)
	if at-a.now < second {
		return
	}
	a.flush(a.now + second)
	a.now += (at - a.now) / second * second // seconds in which nothing came have no rows
	a.conns.expire(at)
}

// close ends the capture.
func (a *analysis) close() {
	if a.begin == 0 {
		return
	}
	a.conns.close()
	a.sip.close()
	a.datagrams.close(a)
	a.flush(a.last)
	a.writeDrawn()
}

// flush writes the rows of the second that ends at.
func (a *analysis) flush(at int64) {
	kept := a.touched[:0]
	a.listing.tick()
	for _, c := range a.touched {
		again := !c.touched // its memory was used twice in this second
		c.touched = false
		if again || c.key == (key{}) { // it left the table, and told
			continue
		}
		a.rows(c, at)
		if c.turn.asked != 0 {
			if c.turn.answering != 0 && at-c.turn.answered > second {
				c.endTurn(a)
			} else if c.turn.answering == 0 && c.done == 0 {
				a.waiting(c, at)
			}
		}
		if c.turn.asked != 0 && c.done == 0 || c.waitsForWindow() {
			c.touched = true
			kept = append(kept, c)
		}
	}
	clear(a.touched[len(kept):])
	a.touched = kept
	a.flushPairs()
}

// waitsForWindow reports that a row is due though nothing comes.
func (c *conn) waitsForWindow() bool {
	return c.done == 0 && c.listed && (c.half[0].limit.state == windowShut || c.half[1].limit.state == windowShut)
}

// ended takes a connection that leaves the table.
func (a *analysis) ended(c *conn, why ending) {
	c.unanswered(a.last, why)
	if c.turn.asked != 0 {
		c.endTurn(a)
	}
	if c.hand.syn != 0 && c.hand.synAck == 0 && !c.hand.refused && a.last-c.hand.syn > second {
		a.hand(c.last, c).Unanswered++
		a.pair(c, roleAccept).Failed++
		a.pair(c, roleConnect).Failed++
	}
	a.rows(c, c.last)
	if c.done != 0 {
		a.closing(c)
	}
	a.flow(c, why)
	a.draw(c)
	for i := range c.half {
		h := &c.half[i]
		a.count.Copies += h.copies
		a.count.Missed += h.missed
	}
}

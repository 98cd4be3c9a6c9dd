package pcap

import (
	"snag/recording"
)

// Rows of flows: these many of any, and as many again of those on which something
// failed.
const maxFlows = 3_000

// flow writes a connection's row when it leaves the table.
func (a *analysis) flow(c *conn, why ending) {
	if c.listed {
		a.listing.now--
	}
	server := c.server()
	up, down := &c.half[1-server], &c.half[server]
	if c.half[0].packets+c.half[1].packets == 0 {
		return
	}
	wrong := up.wrong() || down.wrong() || c.resetBy != 0 || c.hand.refused || c.hand.syns > 1 || c.hand.ignored > 0 || c.silence.worst >= 3*second
	if a.flows >= 2*maxFlows || a.flows >= maxFlows && !wrong {
		a.count.LeftOut++
		return
	}
	a.flows++
	row := recording.Flow{
		T: recording.Time(c.first), End: recording.Time(c.last), Netns: a.netns, Proto: "tcp",
		Client: c.addr(1 - server).String(), Server: c.addr(server).String(), Known: c.client >= 0,
		SYNs: c.hand.syns, SYNACKs: c.hand.synAcks, Ignored: c.hand.ignored,
		Closed: c.closedHow(why), First: c.closedFirst(), Forged: c.forged,
	}
	if c.hand.syn != 0 && c.hand.ack != 0 {
		row.Handshake = some(c.hand.took())
	}
	if c.hand.syn != 0 && c.hand.synAck != 0 && c.hand.syns == 1 {
		row.ToServer = some(c.hand.synAck - c.hand.syn)
	}
	if c.hand.synAck != 0 && c.hand.ack != 0 && c.hand.synAcks == 1 {
		row.ToClient = some(c.hand.ack - c.hand.synAck)
	}
	row.Cut = c.cut
	c.silence.told(&row)
	up.limit.end(c.last)
	down.limit.end(c.last)
	row.Up, row.Down = up.way(down), down.way(up)
	for side := range c.half {
		k, w := icmpKey{c.key, side}, &row.Up
		if side == server {
			w = &row.Down
		}
		if m := a.tooBig[k]; m != nil {
			w.TooBig, w.MTU = m.n, m.mtu
			delete(a.tooBig, k)
		}
		if m := a.undelivered[k]; m != nil {
			w.Undelivered, w.UndeliveredWhy, w.UndeliveredBy = m.n, said[m.why], m.by.String()
			delete(a.undelivered, k)
		}
	}
	a.out.Append(row)
}

func some(ns int64) *float64 {
	v := seconds(max(ns, 0))
	return &v
}

func (h *half) wrong() bool {
	return h.resent+h.reordered+h.limit.zeroInstances+h.hold.held > 0
}

func (h *half) way(p *half) recording.FlowWay {
	w := recording.FlowWay{
		Packets: h.packets, Bytes: h.bytes, Largest: h.biggest, Segments: h.segments, Resent: h.resent, Unheard: h.unheard, Needless: min(h.needless(), h.resent), Timeouts: h.timeouts, TimedOut: seconds(h.timedOut),
		Reordered: h.reordered, DupAcks: h.dupAcks, Copies: h.copies, Missed: h.missed, Probes: h.probes,
		WindowFull: seconds(h.limit.full), WindowShut: seconds(h.limit.zero), Shut: h.limit.zeroInstances, ShutMax: seconds(h.limit.longest), ShutMore: h.limit.more || h.probes > 0,
		FullAcks: h.limit.acks, FullMost: h.limit.most,
		Held: h.hold.held, Filled: h.lostBefore - min(h.lostBefore, h.overtook), NoSACK: h.dataPackets > 0 && h.deaf(p), ZeroWindows: h.zeroWindows,
	}
	if h.limit.acks > 0 {
		w.WindowMost = int64(p.widest)
	}
	if h.dataPackets > 0 {
		w.Size = h.segmentSize(p)
	}
	if h.largestAcked > 0 {
		w.LargestAcked, w.LastAck = h.largestAcked, recording.Time(h.lastAck)
	}
	if h.rtt.n > 0 {
		w.RTT, w.MinRTT, w.MaxRTT = some(h.rtt.sum/int64(h.rtt.n)), some(h.rtt.least), some(h.rtt.most)
	}
	if h.again.backoff >= stuckAfter && !h.again.fast {
		w.Stuck, w.Passed = int(h.again.size), h.small
		if h.flight.n > 0 {
			w.StuckSince = recording.Time(h.flight.ring[h.flight.begin].at)
		}
	}
	return w
}

// stuckAfter: the same segment was sent again three times and never acknowledged.
const stuckAfter = 3

func (c *conn) closedHow(why ending) string {
	server := c.server()
	switch {
	case c.hand.refused:
		return "refused"
	case c.resetBy != 0 && int(c.resetBy)-1 == server:
		return "server rst"
	case c.resetBy != 0:
		return "client rst"
	case c.half[0].fin && c.half[1].fin:
		return "fin"
	case c.half[server].fin:
		return "server fin"
	case c.half[1-server].fin:
		return "client fin"
	case c.hand.syn != 0 && c.hand.synAck == 0:
		return "unanswered"
	case why == endRoom:
		return "forgotten"
	}
	return "open"
}

func (c *conn) closedFirst() string {
	first := -1
	switch x, y := c.half[0].finAt, c.half[1].finAt; {
	case x != 0 && (y == 0 || x < y):
		first = 0
	case y != 0:
		first = 1
	case c.resetBy != 0:
		first = int(c.resetBy) - 1
	}
	switch first {
	case -1:
		return ""
	case c.server():
		return "server"
	}
	return "client"
}

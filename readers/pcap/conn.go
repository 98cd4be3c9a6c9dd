package pcap

import (
	"net/netip"

	"snag/internal/packet"
	"snag/internal/recency"
	"snag/recording"
)

// ending is how a connection left the table.
type ending uint8

const (
	endClosed ending = iota
	endReused
	endRoom
	endSilence
	endCapture
)

// conn is one TCP connection as the capture shows it.
type conn struct {
	key
	gen         uint32 // of this memory: it is used again
	half        [2]half
	first, last int64
	done        int64 // when both sides had closed, or one reset; 0: not yet
	hand        handshake
	turn        turn
	silence     silence
	number      uint64 // of it, for its rows
	client      int8   // which end opened it; -1: not seen
	resetBy     int8   // 1 + the end that reset it; 0: none
	resetState  string
	forged      bool   // the reset's TTL is another than its sender's
	leaves      bool   // one end said, in TLS, that it closes
	cut         bool   // a reset of the server took an answer from the client
	listed      bool   // it has rows, second by second
	touched     bool   // it is in the second's list
	track       *track // nil: its segments are not kept
	links       recency.Links[conn]
	spare       *conn // the next of those that may be used again
}

// Recency are its links in the table.
func (c *conn) Recency() *recency.Links[conn] { return &c.links }

// handshake is how a connection was opened (RFC 9293, section 3.5).
type handshake struct {
	syn, synAck, ack int64 // when each first came; 0: not seen
	syns, synAcks    int
	ignored          int // SYN-ACKs sent again though the ACK had been seen
	refused          bool
}

// took is how long it was from the first SYN to the ACK, ns; 0: not seen whole.
func (h *handshake) took() int64 {
	if h.syn == 0 || h.ack == 0 {
		return 0
	}
	return h.ack - h.syn
}

// server and opener are the two ends as far as known: who was called, and by whom.
// Without a handshake the lower port is the server's.
func (c *conn) server() int {
	if c.client >= 0 {
		return 1 - int(c.client)
	}
	return 0 // key's a has the lower port
}

func (c *conn) addr(side int) netip.AddrPort {
	if side == 0 {
		return c.a
	}
	return c.b
}

// reusedBy tells a new connection on old ports from a SYN that came twice.
func (c *conn) reusedBy(s *segment, side int) bool {
	h := &c.half[side]
	if s.has(packet.ACK) || h.sawSYN && h.isn == s.seq {
		return false
	}
	return h.begun || c.done != 0 || h.sawSYN
}

// take takes a segment of side.
func (c *conn) take(a *analysis, s *segment, side int) {
	h, p := &c.half[side], &c.half[1-side]
	h.packets++
	if s.has(packet.RST) {
		c.point(s, side)
		c.reset(a, s, side)
		return
	}
	if h.copyOf(s) {
		h.copies++
		return
	}
	if h.iface == 0 {
		h.iface = s.iface
	} else if h.iface != s.iface && h.elsewhere(s) {
		h.copies++
		return
	}
	c.point(s, side)
	h.biggest = max(h.biggest, s.size)
	h.sending.packet(s)
	if s.has(packet.SYN) {
		c.open(a, s, side)
	}
	if s.has(packet.ACK) {
		c.acked(a, s, h, p)
		c.heard(s, side)
	}
	h.stamp(s, p)
	seq := s.seq
	if s.has(packet.SYN) {
		seq++
	}
	fresh := false
	if s.len > 0 {
		fresh = h.data(a, c, s, seq, p)
	} else if h.begun && int32(seq-h.next) == -1 && !s.has(packet.SYN|packet.FIN) && p.begun {
		if h.limit.state == windowShut {
			h.probes++ // Linux asks so whether the window is still shut (tcp_xmit_probe_skb)
		} else {
			h.keepAlives++
		}
	}
	if s.has(packet.FIN) {
		h.finish(s, seq)
	}
	if fresh {
		c.turned(a, s, side)
	}
	h.limits(s.at, p)
	p.limits(s.at, h)
	if c.done == 0 && h.fin && p.fin && h.finAcked && p.finAcked {
		c.done = s.at
		a.conns.closed(c, s.at)
	}
}

// open takes a SYN or a SYN-ACK.
func (c *conn) open(a *analysis, s *segment, side int) {
	h := &c.half[side]
	w := &c.hand
	if s.has(packet.ACK) {
		if w.synAcks++; w.synAck == 0 {
			w.synAck = s.at
		} else if w.ack != 0 {
			w.ignored++
			a.hand(s.at, c).Ignored++
		}
		c.client = int8(1 - side)
	} else if w.syn != 0 || w.synAck == 0 { // else the answer was there before it
		if w.syns++; w.syn == 0 {
			w.syn = s.at
			c.client = int8(side)
			a.opening(s.at, c)
		} else if w.synAck == 0 || s.at > w.synAck {
			a.hand(s.at, c).Resent++
		}
	}
	if !h.sawSYN {
		h.sawSYN, h.isn = true, s.seq
		h.begin(s.seq + 1)
		h.mss, h.sackOK = s.opt.MSS, s.opt.SACKOK
		h.scale, h.scaled = s.opt.Scale, s.opt.Scaled
	} else if h.isn == s.seq {
		h.synAgain++
	}
}

// acked takes what a segment says of the other side's data, and the window that it
// offers.
func (c *conn) acked(a *analysis, s *segment, h, p *half) {
	if c.hand.synAck != 0 && c.hand.ack == 0 && c.client >= 0 && h == &c.half[c.client] && !s.has(packet.SYN) {
		c.hand.ack = s.at
		a.opened(s.at, c)
	}
	window := uint32(s.window)
	if !s.has(packet.SYN) {
		window = h.scaledWindow(p, s)
		if p.known(h) {
			h.widest = max(h.widest, window)
			p.limit.offered(window, h.widest)
		}
	}
	p.ackedBy(s, window, h.window)
	h.window, h.offers = window, true
	if edge := s.ack + window; int32(edge-h.edge) > 0 || !h.edged {
		h.edge, h.edged = edge, true
	}
	if window == 0 && !s.has(packet.SYN|packet.FIN) {
		h.zeroWindows++
	}
	if p.fin && !p.finAcked && int32(s.ack-p.finSeq) > 0 {
		p.finAcked = true
	}
}

// reset takes a RST.
func (c *conn) reset(a *analysis, s *segment, side int) {
	h, p := &c.half[side], &c.half[1-side]
	h.resets++
	a.count.Resets++
	if c.done != 0 {
		return
	}
	if c.hand.syn != 0 && c.hand.synAck == 0 && int(c.client) != side {
		c.hand.refused = true
		a.hand(s.at, c).Refused++
		a.reset(s.at, c, side, "LISTEN")
	} else {
		c.resetBy, c.resetState = int8(side+1), stateAtReset(h, p)
		c.forged = h.ttl != 0 && s.ttl != h.ttl
		if c.hand.syn != 0 && c.hand.ack == 0 {
			c.resetState = "SYN_RECV" // it never stood: who scans leaves so
		}
		if c.cut = c.cuts(side, s.at); c.cut {
			t := &a.pair(c, roleConnect).call
			t.Cut, t.CutBy = t.Cut+1, recording.CutReset
		}
		a.reset(s.at, c, side, c.resetState)
	}
	h.limits(s.at, p)
	p.limits(s.at, h)
	c.done = s.at
	a.conns.closed(c, s.at)
}

// cuts reports whether a reset of side takes from the client what it waits for: the answer
// to a request, or the rest of one that is on its way. Who leaves by a reset misses
// nothing, and neither does who said that it closes.
func (c *conn) cuts(side int, at int64) bool {
	if up := &c.half[1-side]; side != c.server() || c.leaves || up.fin && (c.turn.answering != 0 || !c.turn.saysAll(up.finAt)) {
		return false
	}
	down := &c.half[side]
	return c.turn.asked != 0 && c.turn.answering == 0 && !c.turn.goesOn || down.dataPackets > 0 && !down.fin && int32(down.next-down.una) > 0 && !down.arrived(&c.half[1-side], at)
}

// arrived reports whether all that an end sent is there, though not acknowledged: no more than what
// an ACK may be held back for (two segments, RFC 9293, 3.8.6.3), and sent a round trip ago.
func (h *half) arrived(p *half, at int64) bool {
	return h.rtt.least > 0 && at-h.lastAt >= h.rtt.least && int(h.next-h.una) <= 2*h.segmentSize(p) && h.again.backoff == 0
}

// stateAtReset is the state of the resetting end, as far as the wire shows it. What
// comes when all was said and the other end had closed breaks nothing.
func stateAtReset(h, p *half) string {
	pending := h.begun && p.begun && (int32(h.next-h.una) > 0 || int32(p.next-p.una) > 0)
	switch {
	case h.fin && p.fin:
		return "TIME_WAIT"
	case h.fin:
		return "FIN_WAIT2"
	case p.fin && !pending:
		return "LAST_ACK"
	case p.fin:
		return "CLOSE_WAIT"
	case !h.begun && !p.begun:
		return ""
	}
	return "ESTABLISHED"
}

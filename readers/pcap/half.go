package pcap

import (
	"snag/internal/packet"
)

// half is what one end of a connection sends, and the window that it offers.
type half struct {
	begun, sawSYN, fin, finAcked bool
	sackOK, scaled, edged        bool
	offers                       bool // a window
	scale                        uint8
	ttl                          uint8
	routed                       uint8  // TTL of the second of its packets that were captured before and behind a router; 0: none was
	mss                          uint16 // what it takes, as its SYN said; 0: not seen
	isn, next                    uint32 // next: after the highest byte seen
	una                          uint32 // what the other end acknowledged
	finSeq                       uint32
	window, edge                 uint32 // offered by this end, bytes; edge: the highest sequence number
	widest                       uint32 // window that it offered after its SYN
	largestAcked                 int    // IP packet
	largest                      int    // payload of a segment, bytes
	biggest                      int    // IP packet
	finAt                        int64
	lastAt, lastAck              int64 // of its last data; of the last progress of una
	quiet                        int64 // from the later of both to its last data, ns

	flight flight
	holes  *holes // nil: there never was one
	seen   copies
	rtt    trip // from here to the other end and back
	echo   echoes
	hold   holding
	limit  limited
	counts
	again    resending
	sending  sending
	iface    uint32 // that its first packet was captured on
	synAgain int
	// What SACK says of it: later data came first, since when, and between what.
	ahead              bool
	aheadAt            int64
	aheadFrom, aheadTo uint32
	reported           [2]uint32 // the last duplicate
	early              uint64    // resendings of which the first was answered
	repairs            *repairs  // what was sent again and is not acknowledged; nil: nothing ever was
	sacks              bool      // the other end reported what it has
	small              int       // bytes of a small segment that came behind one that never does
	was                was       // at its last row
	skipped            skipped
	beyond             stretch // what was sent beyond the window that the other end offered
	outside            uint64  // of the resent: such, which the other end does not take (RFC 9293, 3.10.7.4)
}

// stretch is a range of sequence numbers; empty where both are the same.
type stretch struct{ from, to uint32 }

func (r stretch) has(seq, end uint32) bool {
	return r.from != r.to && int32(seq-r.from) >= 0 && int32(end-r.to) <= 0
}

// skipped is what was acknowledged last before it came: the capture missed it, or took the
// ACK first, as it does where both come to different queues of an interface.
type skipped struct {
	stretch
	at int64
}

// soonAfterACK is how much later the data comes then at most.
const soonAfterACK = int64(50e6)

// counts are of one direction, from the first packet on.
type counts struct {
	packets, dataPackets uint64
	bytes, fresh         uint64 // payload sent, and of it what was new
	segments             uint64 // data packets, in segments of the connection's size
	resent, resentBytes  uint64 // packets, bytes
	resentSegments       uint64
	lostBefore, spurious uint64 // of the resent: never seen before; needless
	overtook             uint64 // of the resent: what was sent first came later
	unheard              uint64 // of the resent: before anything was acknowledged
	timeouts, fast       uint64 // of the resent
	timedOut             int64  // ns in which nothing was sent or acknowledged before one was sent for a timeout
	duplicates           uint64 // that the receiver reported (DSACK)
	reordered, healed    uint64 // came late; acknowledged late without being sent again
	dupAcks              uint64 // that came for its data
	zeroWindows          uint64 // segments that this end sent
	keepAlives, probes   uint64
	gaps, missed         uint64 // times, and bytes that the capture does not have
	copies, resets       uint64
}

func (h *half) begin(seq uint32) {
	h.begun, h.next, h.una = true, seq, seq
}

// segmentSize is what the direction's full segments carry: the other end's MSS less
// the options, or what was seen.
func (h *half) segmentSize(p *half) int {
	if p.mss > 0 {
		n := int(p.mss)
		if h.echo.used {
			n -= 12 // timestamps (RFC 7323, appendix A)
		}
		return max(n, 64)
	}
	if h.largest < 536 || h.largest > 1460 { // every host takes 536 (RFC 9293, 3.7.1)
		return 1448
	}
	return h.largest
}

// scaledWindow is what a segment offers. Where the SYNs were not seen the scale is
// the least that lets through what was sent.
func (h *half) scaledWindow(p *half, s *segment) uint32 {
	w := uint32(s.window)
	if h.sawSYN && p.sawSYN {
		if h.scaled && p.scaled {
			return w << h.scale
		}
		return w
	}
	if !h.sawSYN && w > 0 && p.begun {
		for h.scale < 14 && int32(p.next-s.ack) > int32(w<<h.scale) {
			h.scale++
		}
	}
	return w << h.scale
}

// data takes a segment with payload; it reports whether it brought something new.
func (h *half) data(a *analysis, c *conn, s *segment, seq uint32, p *half) bool {
	end := seq + uint32(s.len)
	h.dataPackets++
	h.bytes += uint64(s.len)
	if !h.begun {
		h.begin(seq)
	}
	if h.ttl == 0 {
		h.ttl = s.ttl
	}
	size := h.segmentSize(p)
	segments := uint64((s.len + size - 1) / size)
	h.segments += segments
	d := int32(seq - h.next)
	if p.offers && p.window == 0 && s.len == 1 && d == 0 {
		h.probes++ // of a shut window: the byte comes again (RFC 9293, 3.8.6.1)
		return false
	}
	if d < 0 && s.len == 1 && d == -1 {
		h.keepAlives++
		return false
	}
	h.largest = max(h.largest, s.len)
	h.quiet, h.lastAt = s.at-max(h.lastAt, h.lastAck), s.at
	if d < 0 {
		if h.skipped.has(seq, end) && s.at-h.skipped.at <= soonAfterACK {
			h.skipped.from = end
			h.missed -= min(h.missed, uint64(s.len))
			h.fresh += uint64(s.len)
			return true
		}
		if int32(end-h.next) <= 0 {
			h.old(a, c, s, seq, end, segments)
			return false
		}
		h.resend(a, c, s, segments, end, true) // it brings old and new at once
		h.fresh -= uint64(-d)
	}
	if d > 0 {
		h.gaps++
		if h.holes == nil {
			h.holes = &holes{}
		}
		h.holes.open(h, s, h.next, seq)
	}
	h.hold.sent(c, h, s, p)
	h.limit.more = h.limit.more || h.limit.zeroInstances > 0
	h.fresh += uint64(s.len)
	h.next = end
	h.flight.sent(end, s)
	if p.edged && h.known(p) && int32(end-p.edge) > 0 {
		if h.beyond.to != seq {
			h.beyond.from = seq
		}
		h.beyond.to = end
	}
	return true
}

// old judges a segment whose bytes lie before the highest seen: late, or sent again.
func (h *half) old(a *analysis, c *conn, s *segment, seq, end uint32, segments uint64) {
	hole, filled := h.holes.fill(h, seq, end)
	late := h.sending.late
	if filled {
		h.fresh += uint64(end - seq)
		if late == unsure && s.at-hole.at < h.rtt.soon() {
			late = yes
		}
	}
	switch {
	case late == yes:
		h.reordered++
		a.count.Reordered++
		if !filled && h.repairs != nil && h.repairs.overtaken(seq, end) {
			h.overtook++
		}
	case filled:
		h.lostBefore++
		h.resend(a, c, s, segments, end, false)
	default:
		h.resend(a, c, s, segments, end, true)
	}
}

// resend counts a segment that was sent again. seen: the capture has the first one.
func (h *half) resend(a *analysis, c *conn, s *segment, segments uint64, end uint32, seen bool) {
	h.resent++
	h.resentBytes += uint64(s.len)
	h.resentSegments += segments
	a.count.Resent++
	switch {
	case seen && int32(end-h.una) <= 0:
		h.spurious++
	case seen && h.beyond.has(end-uint32(s.len), end):
		h.outside++
	case h.sawSYN && h.una == h.isn+1:
		// Nothing that it sent was ever acknowledged: its peer may not have taken the
		// connection.
		if h.unheard++; h.unheard == 1 && c.hand.ack != 0 && h == &c.half[1-c.server()] {
			c.hand.ignored++
			a.hand(s.at, c).Ignored++
		}
	}
	h.again.note(h, s, end)
	h.flight.again(end)
	if int32(end-h.una) > 0 {
		if h.repairs == nil {
			h.repairs = &repairs{}
		}
		h.repairs.sent(s, end-uint32(s.len), end)
	}
	if h.again.fast {
		h.fast++
	} else {
		h.timeouts++
		h.timedOut += max(0, h.quiet)
	}
}

// finish takes a FIN.
func (h *half) finish(s *segment, seq uint32) {
	if !h.begun {
		h.begin(seq)
	}
	if !h.fin {
		h.finAt = s.at
		h.fin, h.finSeq = true, seq+uint32(s.len)
	}
}

// resending is how the last loss is being repaired.
type resending struct {
	at      int64
	seq     uint32 // end of what was resent last
	backoff int32  // times that the same was sent again without progress
	run     int32  // duplicate ACKs since the last progress
	size    int32  // of the packet that is sent again and again
	fast    bool   // after duplicate ACKs, before a timeout
}

func (r *resending) note(h *half, s *segment, end uint32) {
	if r.backoff > 0 && r.seq == end {
		r.backoff++
		r.fast = false
	} else {
		// Three duplicate ACKs (RFC 5681), or what SACK makes of fewer (RFC 6675).
		r.fast = r.run >= 2
		r.backoff = 1
	}
	r.seq, r.at, r.size = end, s.at, int32(s.size)
}

// ackedBy takes an acknowledgment of this end's data.
func (h *half) ackedBy(s *segment, window, before uint32) {
	if !h.begun {
		h.begin(s.ack)
		h.lastAck = s.at
		return
	}
	h.hold.acked(s)
	d := int32(s.ack - h.una)
	dsack := false
	if s.opt.SACKs > 0 {
		h.sacks = true
		dsack = h.sacked(s)
	}
	switch {
	case d > 0:
		if int32(s.ack-h.next) > 0 && (!h.fin || s.ack != h.finSeq+1) {
			h.missed += uint64(s.ack - h.next)
			h.skipped = skipped{stretch{h.next, s.ack}, s.at}
			h.next = s.ack
		}
		h.progress(s)
	case d == 0 && s.len == 0 && s.flags&(packet.SYN|packet.FIN) == 0 && int32(h.next-h.una) > 0 && (window == before || dsack || s.opt.SACKs > 0):
		h.again.run++
		h.dupAcks++
	case d == 0 && s.len == 0 && s.flags&(packet.SYN|packet.FIN) == 0 && h.next == h.una && window == before && h.repairs != nil && !h.fin:
		h.repairs.answer(s)
	}
}

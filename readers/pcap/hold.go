package pcap

// holding finds writes that Nagle's algorithm held back (RFC 896): a small segment
// that goes out the moment an ACK without data comes, which was late, while nothing
// else kept it. A program does not see ACKs: what waits for one again and again was
// held by its kernel. A small segment that goes out while another small one is not
// acknowledged shows that the algorithm is off.
type holding struct {
	lastAt    int64
	lastEnd   uint32 // of the segment that was sent last
	pureFor   uint32 // lastEnd then
	pureAt    int64  // when an ACK without data covered all that was sent; 0: it had data
	lastSmall bool

	small      uint64 // small segments sent
	held       uint64 // of them, right after a late ACK
	candidates uint64 // came after a late ACK at all
	unheld     uint64 // sent while a small one was on its way

	now, writes  uint64 // of this second: held, sent
	sum, longest int64  // ns that they waited at most, this second
}

const (
	// lateACK: receivers delay ACKs by 40 ms and more (TCP_DELACK_MIN), others answer
	// at once.
	lateACK = int64(10e6)
	// latestACK: no receiver delays one for longer (RFC 1122, 4.2.3.2).
	latestACK = int64(500e6)
	// atOnce is how soon after the ACK a held segment leaves its kernel.
	atOnce = int64(1e6)
)

// acked takes an ACK of everything that was sent: with data it is an answer, and what
// is sent after it may be due to that.
func (d *holding) acked(s *segment) {
	if d.lastAt == 0 || s.ack != d.lastEnd || d.pureFor == d.lastEnd && (s.len == 0 || d.pureAt == 0) {
		return
	}
	d.pureFor, d.pureAt = d.lastEnd, s.at
	if s.len > 0 {
		d.pureAt = 0
	}
}

// sent takes a segment with new data, before it is counted.
func (d *holding) sent(c *conn, h *half, s *segment, p *half) {
	size := h.segmentSize(p)
	small := s.len%size != 0
	d.writes++
	if small {
		d.small++
		near := h.near(c)
		switch {
		case d.lastAt == 0:
		case d.pureFor == d.lastEnd:
			if wait := d.pureAt - d.lastAt; d.pureAt != 0 && wait >= lateACK && wait <= latestACK && s.len < size {
				d.candidates++
				if s.at-d.pureAt <= atOnce+near+near/2 {
					d.held++
					if 10*d.held >= 8*d.candidates {
						d.released(wait)
					}
				}
			}
		case d.lastSmall && int32(d.lastEnd-h.una) > 0 && s.at-d.lastAt > near+atOnce:
			d.unheld++
		}
	}
	d.lastEnd, d.lastAt, d.lastSmall = s.seq+uint32(s.len), s.at, small
}

// released counts a held segment. When it was written nobody saw: after the one before
// it, so that it waited no longer than from there to the ACK.
func (d *holding) released(wait int64) {
	d.now++
	d.sum += wait
	d.longest = max(d.longest, wait)
}

// off reports that the algorithm is off on this end's socket.
func (d *holding) off() bool { return d.unheld >= 3 && 10*d.unheld >= d.small }

// fewEchoes tell how fast an end answers only if it had something to say: the probes of a shut window,
// and what an idle connection sends, come seconds after what they echo.
const fewEchoes = 20

// near is the way from the capture to this end and back, ns: as measured by timestamps and by the
// handshake, the shorter one; 0: not known.
func (h *half) near(c *conn) int64 {
	least := h.echo.near.least
	if h.echo.near.n < fewEchoes {
		least = 0
	}
	w := &c.hand
	if w.syn == 0 || w.synAck == 0 || w.ack == 0 || c.client < 0 {
		return least
	}
	hand := w.synAck - w.syn
	if h == &c.half[c.client] {
		hand = w.ack - w.synAck
	}
	if least == 0 {
		return hand
	}
	return min(least, hand)
}

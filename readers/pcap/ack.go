package pcap

import "snag/internal/packet"

// progress takes an acknowledgment that goes on.
func (h *half) progress(s *segment) {
	if h.repairs != nil {
		h.early += h.repairs.answered(s, h.rtt.least)
	}
	if h.ahead && h.again.at < h.aheadAt && int32(s.ack-h.aheadFrom) > 0 {
		h.healed++ // later data had come first, and nothing was sent again
	}
	if int32(s.ack-h.aheadTo) >= 0 {
		h.ahead = false
	}
	at, size, ok := h.flight.acked(s.ack)
	if ok {
		h.rtt.sample(s.at - at)
	}
	h.largestAcked = max(h.largestAcked, size)
	h.una, h.lastAck = s.ack, s.at
	h.holes.passed(s.ack)
	h.again.run, h.again.backoff = 0, 0
}

// sacked takes selective acknowledgments; true: one reports a duplicate (RFC 2883,
// section 4: the first block lies below the ACK, or within the second).
func (h *half) sacked(s *segment) bool {
	first := s.opt.SACK[0]
	d := int32(first[1]-s.ack) <= 0
	if !d && s.opt.SACKs > 1 {
		second := s.opt.SACK[1]
		d = int32(first[0]-second[0]) >= 0 && int32(first[1]-second[1]) <= 0
	}
	from := 0
	if d {
		if first != h.reported {
			h.duplicates++
			h.reported = first
		}
		from = 1
	}
	for _, b := range s.opt.SACK[from:s.opt.SACKs] {
		if int32(b[0]-s.ack) <= 0 {
			continue
		}
		if !h.ahead {
			h.ahead, h.aheadAt, h.aheadFrom, h.aheadTo = true, s.at, s.ack, b[1]
		}
		if int32(b[1]-h.aheadTo) > 0 {
			h.aheadTo = b[1]
		}
		if n := int(b[1] - b[0]); h.again.backoff > 1 && n < h.segmentLeast() {
			h.small = max(h.small, n)
		}
	}
	return d
}

// segmentLeast is what counts as less than a full segment.
func (h *half) segmentLeast() int { return max(h.largest*3/4, 64) }

// flight times some of what is on its way: as many segments as it has room for, more
// once these are acknowledged.
type flight struct {
	ring     [16]timed
	begin, n uint8
}

type timed struct {
	at    int64
	end   uint32
	size  uint16 // of the IP packet; a larger one (IPv6 jumbograms, RFC 2675) counts as 65,535
	again bool   // sent more than once: its time tells nothing (Karn)
}

func (f *flight) sent(end uint32, s *segment) {
	if int(f.n) == len(f.ring) {
		return
	}
	f.ring[(int(f.begin)+int(f.n))%len(f.ring)] = timed{end: end, at: s.at, size: uint16(min(s.size, 1<<16-1))}
	f.n++
}

// again notes that what ends there was sent once more, and with it all before.
func (f *flight) again(end uint32) {
	for i := range int(f.n) {
		t := &f.ring[(int(f.begin)+i)%len(f.ring)]
		t.again = t.again || int32(t.end-end) <= 0
	}
}

// acked drops what is acknowledged and gives the time of the last of it, and the size of
// the largest packet.
func (f *flight) acked(ack uint32) (at int64, size int, ok bool) {
	again := false
	for f.n > 0 {
		t := &f.ring[f.begin]
		if int32(ack-t.end) < 0 {
			break
		}
		at, ok, size = t.at, true, max(size, int(t.size))
		again = again || t.again
		f.begin = uint8((int(f.begin) + 1) % len(f.ring))
		f.n--
	}
	return at, size, ok && !again
}

// trip measures a round trip, or a part of one, ns.
type trip struct {
	smooth, least, most int64 // 0: none measured
	n                   uint64
	sum                 int64
	// lately is the least of this second.
	lately int64
}

func (t *trip) sample(d int64) {
	if d < 0 {
		return
	}
	d = max(d, 1)
	if t.n == 0 {
		t.smooth, t.least = d, d
	} else {
		t.smooth += (d - t.smooth) / 8 // RFC 6298
		t.least = min(t.least, d)
	}
	t.most = max(t.most, d)
	t.sum += d
	t.n++
	if t.lately == 0 || d < t.lately {
		t.lately = d
	}
}

// echoes measure the way from the capture to this end and back: the first segment
// that echoes a timestamp, after the first that carried it (RFC 7323; the method is
// Nichols' pping). An end that has nothing to send answers late, so that only the
// least of a second counts.
type echoes struct {
	used  bool       // timestamps are
	ring  [8]stamped // that wait for their echo
	heard uint32     // the last stamp of this end
	near  trip
}

type stamped struct {
	val uint32
	at  int64
}

// stamp takes a segment's timestamps: h sent it, p is the other end.
func (h *half) stamp(s *segment, p *half) {
	if !s.opt.Stamped {
		return
	}
	e := &h.echo
	if !e.used || int32(s.opt.TSVal-e.heard) > 0 {
		e.used, e.heard = true, s.opt.TSVal
		for i := range e.ring {
			if r := &e.ring[i]; r.at == 0 || s.at-r.at > longestEcho { // else all wait for their echo
				*r = stamped{s.opt.TSVal, s.at}
				break
			}
		}
	}
	for i := range p.echo.ring {
		r := &p.echo.ring[i]
		if r.at == 0 {
			continue
		}
		if r.val == s.opt.TSEcr {
			e.near.sample(s.at - r.at)
		}
		if int32(s.opt.TSEcr-r.val) >= 0 { // a later one is answered: this never will be
			r.at = 0
		}
	}
}

// longestEcho is when a timestamp is given up: longer than any round trip.
const longestEcho = 10 * second

// copies remembers the last segments, to know those that were captured twice: on two
// interfaces of "any", before and behind a bridge, from a mirror port. A segment that
// is sent again has an identification or a timestamp of its own.
type copies struct {
	ring [6]print
	at   uint8
}

// print stands for all of a segment's header that a copy shares.
type print struct {
	sum uint64
	at  int64
	ttl uint8
}

// printOf mixes the fields; two segments of one connection that differ have the same sum
// once in 2^64.
func printOf(s *segment) uint64 {
	h := (uint64(s.seq) | uint64(s.ack)<<32) * 0x9e3779b97f4a7c15
	h = (h ^ h>>32 ^ uint64(s.opt.TSVal) ^ uint64(s.opt.TSEcr)<<32) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>29 ^ uint64(s.id) ^ uint64(s.window)<<16 ^ uint64(s.flags)<<32 ^ uint64(s.len)<<40) * 0x94d049bb133111eb
	return h ^ h>>32
}

// soonCopied is how far apart the two come; routedWithin where the one lies before a router and the
// other behind it, which tells them apart by their TTL.
const (
	soonCopied   = int64(2e6)
	routedWithin = int64(1e9)
)

func (h *half) copyOf(s *segment) bool {
	if h.routed != 0 && s.ttl == h.routed && !h.brings(s) {
		return true
	}
	p := print{printOf(s), s.at, s.ttl}
	c := &h.seen
	for i := range c.ring {
		r := &c.ring[i]
		if r.sum != p.sum || r.at == 0 {
			continue
		}
		if s.ttl != r.ttl && s.at-r.at <= routedWithin {
			h.routed = s.ttl
			return true
		}
		// Without an identification, ACKs that look alike are duplicate ACKs.
		if s.at-r.at <= soonCopied && (s.len > 0 || s.id != 0) {
			return true
		}
	}
	c.ring[c.at] = p
	c.at = (c.at + 1) % uint8(len(c.ring))
	return false
}

// brings reports whether a segment has what was not seen before.
func (h *half) brings(s *segment) bool {
	return !h.begun || s.len > 0 && int32(s.seq+uint32(s.len)-h.next) > 0 || s.has(packet.SYN) && !h.sawSYN || s.has(packet.FIN) && !h.fin
}

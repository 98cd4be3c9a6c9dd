package pcap

// repairs are the segments that were sent again last: by how their acknowledgment comes,
// and by what else comes, the first of each had arrived or had not.
type repairs struct {
	ring [16]repair
	next int
	n    int
	// Acknowledged and not known to be needless, and when: what is answered now without
	// saying anything new came twice.
	done   uint64
	doneAt int64
	twice  uint64 // such answers
}

type repair struct {
	from, end uint32
	stamp     uint32 // of the second transmission
	stamped   bool
	acked     bool
	counted   bool // as needless
	at        int64
}

// sent notes a segment that was sent again, or once more.
func (r *repairs) sent(s *segment, from, end uint32) {
	for i := range r.n {
		if o := &r.ring[i]; o.end == end && !o.acked {
			return // the repair that was sent first may be answered as well
		}
	}
	r.ring[r.next] = repair{from: from, end: end, stamp: s.opt.TSVal, stamped: s.opt.Stamped, at: s.at}
	r.next = (r.next + 1) % len(r.ring)
	r.n = min(r.n+1, len(r.ring))
}

// answered takes an ACK that goes on, and gives how many of what it acknowledges had been
// sent again needlessly: it echoes the timestamp of an earlier segment (Eifel, RFC 3522),
// or comes sooner after the second transmission than answers come to the capture (three
// quarters of the least round trip, as Allman and Paxson have it, "On Estimating
// End-to-End Network Path Properties", 1999). least is that round trip, ns; 0: not known.
func (r *repairs) answered(s *segment, least int64) (needless uint64) {
	for i := range r.n {
		o := &r.ring[i]
		if o.acked || int32(s.ack-o.end) < 0 {
			continue
		}
		o.acked = true
		if o.counted {
			continue
		}
		if o.stamped && s.opt.Stamped && int32(s.opt.TSEcr-o.stamp) < 0 || least > 0 && s.at-o.at < least*3/4 {
			o.counted = true
			needless++
			continue
		}
		if s.at-r.doneAt > soonTwice {
			r.done = 0
		}
		r.done, r.doneAt = r.done+1, s.at
	}
	return needless
}

// soonTwice is how much later than its repair an overtaken segment comes at most.
const soonTwice = int64(1e9)

// overtaken takes a segment that was sent before what came already; true: what was sent
// again for it came first.
func (r *repairs) overtaken(seq, end uint32) bool {
	for i := range r.n {
		if o := &r.ring[i]; int32(seq-o.end) < 0 && int32(end-o.from) > 0 {
			again := !o.counted
			if o.counted = true; again && o.acked && r.done > 0 {
				r.done-- // its answer says the same
			}
			return again
		}
	}
	return false
}

// answer takes an ACK that says nothing new while nothing is on its way: the other end
// answers so what it has already (RFC 9293, 3.10.7.4).
func (r *repairs) answer(s *segment) {
	if r.done > 0 && s.at-r.doneAt <= soonTwice {
		r.done--
		r.twice++
	}
}

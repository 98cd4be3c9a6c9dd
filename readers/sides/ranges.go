package sides

// span is a range of bytes of one direction of a connection: [from, to), counted
// from its first byte.
type span struct{ from, to int64 }

// maxSpans bounds the islands behind the first gap. What comes when there are more
// joins the last.
const maxSpans = 64

// ranges are the bytes of one direction that a capture has shown: all below next,
// and islands above it, in order.
type ranges struct {
	next    int64
	started bool
	islands []span
}

// add takes a range and returns the parts of it that are new. out is used again.
func (r *ranges) add(s span, out []span) []span {
	out = out[:0]
	if !r.started {
		r.started, r.next = true, s.from
	}
	if s.from == r.next && len(r.islands) == 0 { // in order, as nearly all
		if s.to > s.from {
			out = append(out, s)
			r.next = s.to
		}
		return out
	}
	at := max(s.from, r.next)
	for _, i := range r.islands {
		if at >= s.to {
			break
		}
		if i.from > at {
			out = append(out, span{at, min(i.from, s.to)})
		}
		at = max(at, i.to)
	}
	if at < s.to {
		out = append(out, span{at, s.to})
	}
	if len(out) > 0 {
		r.insert(span{max(s.from, r.next), s.to})
	}
	return out
}

// insert joins a range with the islands that it touches.
func (r *ranges) insert(s span) {
	kept := r.islands[:0:0]
	for _, i := range r.islands {
		switch {
		case i.to < s.from:
			kept = append(kept, i)
		case i.from > s.to:
			if s.to >= s.from {
				kept = append(kept, s)
				s = span{1, 0} // it is in
			}
			kept = append(kept, i)
		default:
			s.from, s.to = min(s.from, i.from), max(s.to, i.to)
		}
	}
	if s.to >= s.from {
		kept = append(kept, s)
	}
	if len(kept) > maxSpans {
		kept[maxSpans-1].to = kept[len(kept)-1].to
		kept = kept[:maxSpans]
	}
	r.islands = kept
	r.swallow()
}

// swallow moves next over the islands that it has reached.
func (r *ranges) swallow() {
	for len(r.islands) > 0 && r.islands[0].from <= r.next {
		r.next = max(r.next, r.islands[0].to)
		r.islands = r.islands[1:]
	}
}

// missing is how many bytes of a range were not seen.
func (r *ranges) missing(s span) int64 {
	at, n := max(s.from, r.next), int64(0)
	for _, i := range r.islands {
		if at >= s.to {
			return n
		}
		if i.from > at {
			n += min(i.from, s.to) - at
		}
		at = max(at, i.to)
	}
	return n + max(0, s.to-at)
}

// forget takes all below to as seen: nobody waits for it any more.
func (r *ranges) forget(to int64) {
	if to > r.next {
		r.started, r.next = true, to
		for len(r.islands) > 0 && r.islands[0].to <= to {
			r.islands = r.islands[1:]
		}
		r.swallow()
	}
}

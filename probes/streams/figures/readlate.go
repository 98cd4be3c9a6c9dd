package figures

// cameBefore takes a frame that came before the freeze that stands could begin and is
// handed in only now: a picture that is known to be whole when the next one begins,
// one that waited for what was missing before it. The freeze is what came after it.
// Where that is less than the threshold, there was none: the frames were read late.
func (m *Meter) cameBefore(v moved) {
	f := &m.freeze
	f.from, f.last, f.dts, f.off = m.waiting(), v.at, v.norm, v.off()
	if !f.told { // whoever was told when it began finds its end by that
		f.start = f.from
		if m.o.Bursty {
			f.start += f.limit
		}
	}
	if m.ticked-f.from-m.excused(f.from, m.ticked) >= f.limit {
		f.seen = max(f.seen, m.ticked)
		return
	}
	if !f.told {
		m.freeze = freeze{}
		return
	}
	f.never, f.end = true, max(m.ticked, f.seen)
	m.tellFreeze()
}

// leastStall is how long a freeze lasts at least once its threshold has passed, ns.
func (m *Meter) leastStall() int64 {
	if m.o.Bursty && m.track[m.main].any {
		return leastStall
	}
	return 0
}

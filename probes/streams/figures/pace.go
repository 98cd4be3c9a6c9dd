package figures

import "snag/recording"

// pace is DTS against wall over the last ten seconds or so, by one mark per second
// (of a bursty transport, one a burst): the least of arrival less DTS in it, which
// jitter hardly moves.
type pace struct {
	mark [paceMarks]mark
	n    int

	stands bool
	told   bool
	id     uint64
	from   mark
	to     mark // the newest that belongs to it
}

type mark struct{ at, off int64 }

const paceMarks = 16

func (p *pace) reset() { p.n, p.stands, p.told = 0, false, false }

// between is how far DTS moved by how far the wall did.
func between(a, b mark) float64 {
	wall := b.at - a.at
	if wall <= 0 {
		return 1
	}
	return 1 - float64(b.off-a.off)/float64(wall)
}

// back is the newest mark that is at least ns older than the last, or -1.
func (p *pace) back(ns int64) int {
	for i := p.n - 2; i >= 0; i-- {
		if p.mark[p.n-1].at-p.mark[i].at >= ns {
			return i
		}
	}
	return -1
}

// value is the pace over up to ten seconds, two at least.
func (p *pace) value() Value {
	i := p.back(slowWindow)
	if i < 0 {
		i = 0
	}
	if p.n < 2 || p.mark[p.n-1].at-p.mark[i].at < 2*second {
		return Value{}
	}
	return known(between(p.mark[i], p.mark[p.n-1]))
}

// throughout reports whether DTS fell behind in each quarter of the time since mark i:
// a step (a gap that was not made up), or a delay that grew for a while and stayed,
// is lateness and not slowness.
func (p *pace) throughout(i int, window int64) bool {
	for q := range int64(4) {
		to := p.back(window * (3 - q) / 4)
		if q == 3 {
			to = p.n - 1
		}
		if to <= i || between(p.mark[i], p.mark[to]) >= (1+slowUnder)/2 {
			return false
		}
		i = to
	}
	return true
}

// marked adds a mark and judges: slow is under 0.95 over ten seconds and falling
// behind throughout, or less than that on a straight line.
func (m *Meter) marked(k mark) {
	p := &m.pace
	if p.n > 0 && k.at <= p.mark[p.n-1].at {
		return
	}
	if p.n == paceMarks {
		copy(p.mark[:], p.mark[1:])
		p.n--
	}
	p.mark[p.n] = k
	p.n++
	window := slowWindow
	if m.o.Bursty {
		window = max(window, 5*m.target())
	}
	p.to = k
	if p.stands {
		if i := p.back(window / 2); i >= 0 && between(p.mark[i], k) > slowOver {
			p.to = p.recovered()
			m.endSlow(p.to.at)
		}
		return
	}
	i, half := p.back(window), p.back(window/2)
	if i < 0 || half <= i || between(p.mark[i], k) >= slowUnder || !p.throughout(i, window) {
		if i = p.onLine(); i < 0 || m.o.Bursty {
			return
		}
		half = i
	}
	for i < half && between(p.mark[i], p.mark[i+1]) >= slowUnder {
		i++ // it began only here
	}
	p.stands, p.from, p.id = true, p.mark[i], m.queue.id()
	p.told = m.queue.tell(m.slowEvent(Begun))
}

// recovered cuts the marks back to where the pace was well again, and returns that one.
func (p *pace) recovered() mark {
	i := p.n - 1
	for i > 0 && p.mark[i-1].at >= p.from.at && between(p.mark[i-1], p.mark[i]) > slowOver {
		i--
	}
	copy(p.mark[:], p.mark[i:p.n])
	p.n -= i
	return p.mark[0]
}

func (m *Meter) slowEvent(ph Phase) Event {
	p := &m.pace
	return Event{
		ID: p.id, Phase: ph, Kind: recording.EventStreamSlow, Start: p.from.at, Of: m.main,
		Value: between(p.from, p.to), Unit: "ratio",
	}
}

func (m *Meter) endSlow(at int64) {
	if m.pace.stands && m.pace.told {
		e := m.slowEvent(Ended)
		e.End = max(at, e.Start)
		m.queue.tell(e)
	}
	m.pace.stands, m.pace.told = false, false
}

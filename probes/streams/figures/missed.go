package figures

// aftermath is how long after a hole in what the observer sees the hole may still
// show, where its own timestamps or messages were torn: RTP's reorder window, the
// step that is judged when the next frame is there, a picture whose head is gone.
const aftermath = 2 * second

// Missed tells the Meter that its observer missed data of the stream between two
// times: a gap, a skip or a jump there is nobody's but its own. It may be called
// again with a later end.
func (m *Meter) Missed(from, to int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	from, to = held(from), held(to)
	if to < from {
		return
	}
	m.missed.add(span{from, to + aftermath})
	m.missed.sum = 0
	m.gop.any = false // its key frame, or the next one's, may be among what is missing
	if !m.pace.stands {
		m.pace.reset()
	}
}

// excused is how much of a span was the observer's own doing: it was late, or
// missed data. ns.
func (m *Meter) excused(from, to int64) int64 {
	return min(m.late.of(from, to)+m.missed.within(from, to), max(to-from, 0))
}

// touches reports whether a span has anything of those that are remembered.
func (l *lateness) touches(from, to int64) bool {
	for _, s := range l.span {
		if s.to > s.from && s.from <= to && from <= s.to {
			return true
		}
	}
	return false
}

// Apart tells the Meter that audio can't be set against video: their timestamps
// have no common origin that is known.
func (m *Meter) Apart(apart bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.apart, m.sec.apart = apart, true // this second has frames of both ways
}

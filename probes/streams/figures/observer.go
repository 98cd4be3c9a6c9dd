package figures

// lateness is when the watch itself did not look: the last few spans.
type lateness struct {
	span [8]span // newest first
	sum  int64   // ns late in this second
}

type span struct{ from, to int64 }

// Late tells the Meter that until now the watch ran d ns late: what came in that
// time was not read, and a gap in it is nobody's but its own. To be called before
// Tick.
func (m *Meter) Late(now, d int64) {
	if d <= 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now = held(now)
	m.late.starved(span{now - min(d, mostTime), now})
}

// starved takes a span without a CPU. What has none for long gets a few milliseconds
// now and then, in which it sees that it was late and hardly anything else: such a
// moment between two long spans is of the lateness too.
func (l *lateness) starved(s span) {
	newest := l.span[0]
	if moment := min(s.to-s.from, newest.to-newest.from) / 2; s.from > newest.to && s.from-moment <= newest.to {
		s.from = newest.to
	}
	l.add(s)
}

func (l *lateness) add(s span) {
	newest := &l.span[0]
	if s.from <= newest.to && newest.to != 0 {
		l.sum += max(s.to-newest.to, 0)
		newest.from, newest.to = min(newest.from, s.from), max(newest.to, s.to)
		return
	}
	l.sum += s.to - s.from
	copy(l.span[1:], l.span[:len(l.span)-1])
	l.span[0] = s
}

// ownLoss is what the observer itself lost in this second and the one before: its
// socket overflowed (UDP), its capture has holes. Frames that are missing beside it
// are not the stream's loss.
type ownLoss struct{ now, before uint64 }

func (o ownLoss) any() bool { return o.now+o.before > 0 }

// within is how much of a span the watch was late, ns.
func (l *lateness) within(from, to int64) int64 {
	var sum int64
	for _, s := range l.span {
		sum += max(min(to, s.to)-max(from, s.from), 0)
	}
	return min(sum, max(to-from, 0))
}

// of is how much of a gap from one frame to the next the watch was late, ns: within
// it, and until the frame that ended it was read, where that was so soon after that
// it still waited for its turn.
func (l *lateness) of(from, to int64) int64 {
	late := l.within(from, to)
	if s := l.span[0]; late > 0 && l.after(to) && s.to > from {
		late += max(to-max(s.to, from), 0)
	}
	return min(late, max(to-from, 0))
}

// after says that t is so soon after a lateness that what was held up by it may
// still be coming: within as long again.
func (l *lateness) after(t int64) bool {
	s := l.span[0]
	return s.to > s.from && t >= s.from && t-s.to < max(s.to-s.from, second/4)
}

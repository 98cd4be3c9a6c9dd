package figures

import "slices"

// bursts learns how much comes at once on a bursty transport.
type bursts struct {
	any     bool
	last    int64 // DTS of the last burst's last frame
	advance [8]int64
	n       int
}

// burstGap between two frames is the end of a burst: less is a download's own
// stutter.
const burstGap = second / 10

// target is the segments' duration, ns.
func (m *Meter) target() int64 {
	switch {
	case m.o.Target > 0:
		return min(int64(m.o.Target), 60*second)
	case m.bursts.n < 2:
		return defaultTarget
	}
	a := m.bursts.advance
	slices.Sort(a[:m.bursts.n])
	return min(max(a[m.bursts.n/2], second/5), 60*second)
}

// burstEnds notes the burst that was over before v came. It is a segment's when a
// key frame follows: a slow download has pauses too.
func (m *Meter) burstEnds(v moved, key bool) {
	at := v.at - v.gap
	off := at - v.before
	m.drifted(at, off-m.least.value)
	m.marked(mark{at, off})
	if !key {
		return
	}
	b := &m.bursts
	if b.any && v.before > b.last {
		copy(b.advance[1:], b.advance[:])
		b.advance[0] = v.before - b.last
		b.n = min(b.n+1, len(b.advance))
	}
	b.any, b.last = true, v.before
}

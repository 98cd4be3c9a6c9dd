package figures

import "snag/recording"

// drift is a run of frames that come later than they did.
type drift struct {
	over   bool
	from   int64 // arrival of the run's first frame
	worst  int64
	stands bool // long enough to be called late
	told   bool
	id     uint64
}

// lateLimits are when a stream is late and when no longer: half a second, of a
// bursty transport a whole segment, as its frames come in steps of that.
func (m *Meter) lateLimits() (over, under int64) {
	if m.o.Bursty {
		t := m.target()
		return max(lateOver, t), max(lateUnder, t/2)
	}
	return lateOver, lateUnder
}

// drifted follows how late frames come: over the limit for a second without one
// that was in time is late. What the watch's own lateness held up begins no run.
func (m *Meter) drifted(at, d int64) {
	r := &m.drift
	over, under := m.lateLimits()
	switch {
	case d < under:
		m.endLate(at)
		return
	case !r.over && (d <= over || m.late.after(at) || m.missed.touches(at, at)):
		return
	case !r.over:
		*r = drift{over: true, from: at}
	}
	r.worst = max(r.worst, d)
	if !r.stands && at-r.from >= lateStays {
		if m.late.of(r.from-r.worst, at) > r.worst/2 { // the watch was, not the stream
			*r = drift{}
			return
		}
		r.stands, r.id = true, m.queue.id()
		e := m.lateEvent(Begun)
		r.told = m.queue.tell(e)
	}
}

func (m *Meter) lateEvent(p Phase) Event {
	r := &m.drift
	return Event{
		ID: r.id, Phase: p, Kind: recording.EventStreamLate, Start: r.from, Of: m.main,
		Value: seconds(r.worst), Unit: "seconds",
	}
}

func (m *Meter) endLate(at int64) {
	if m.drift.stands && m.drift.told {
		e := m.lateEvent(Ended)
		e.End = max(at, e.Start)
		m.queue.tell(e)
	}
	m.drift = drift{}
}

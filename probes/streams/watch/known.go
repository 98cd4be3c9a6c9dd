package watch

import "snag/probes/streams/figures"

// begins are a stream's intervals that go on: for when the beginning of each was told.
type begins map[uint64]int64

// knownAt is the time that an event is told for: now; of the beginning of what is over
// by now, at its end; of an end, that itself, and never before the beginning was told,
// as a frame may come just before a look and be read just after it. later are the
// events that are told after e.
func (b begins) knownAt(e figures.Event, later []figures.Event, now int64) int64 {
	switch e.Phase {
	case figures.Begun:
		for _, l := range later {
			if l.ID == e.ID && l.Phase == figures.Ended {
				now = min(now, l.End)
			}
		}
		b[e.ID] = now
	case figures.Ended:
		now = max(e.End, b[e.ID])
		delete(b, e.ID)
	}
	return now
}

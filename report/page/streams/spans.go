package streams

import (
	"math"

	"snag/recording"
)

// frozenSpans are a stream's freezes.
func frozenSpans(events []recording.Event) []recording.Interval {
	var out []recording.Interval
	for _, e := range events {
		if e.Kind == recording.EventStreamFreeze {
			out = append(out, e.Interval())
		}
	}
	return out
}

// awaySpans are when nobody read the stream: it had ended, or was not given.
func awaySpans(events []recording.Event) []recording.Interval {
	var out []recording.Interval
	open := false
	for _, e := range events {
		switch e.Kind {
		case recording.EventStreamEnded, recording.EventStreamRefused:
			if !open {
				out, open = append(out, recording.Interval{Start: e.T}), true
			}
		case recording.EventStreamPublished, recording.EventStreamFirstFrame:
			if open {
				out[len(out)-1].End, open = e.T, false
			}
		}
	}
	return out
}

// within reports which of a course's seconds lie in spans, which are by when they begin; one
// without an end goes on.
func (c *course) within(spans []recording.Interval) []bool {
	out := make([]bool, len(c.t))
	next, open, end := 0, false, recording.Time(math.MinInt64)
	for i, t := range c.t {
		for ; next < len(spans) && spans[next].Start < t; next++ {
			open = open || spans[next].End == 0
			end = max(end, spans[next].End)
		}
		out[i] = open || t <= end
	}
	return out
}

// inOrder sorts events by when they began: a recording has an interval where it ended.
func inOrder(a, b recording.Event) int {
	switch {
	case a.T < b.T:
		return -1
	case a.T > b.T:
		return 1
	}
	return 0
}

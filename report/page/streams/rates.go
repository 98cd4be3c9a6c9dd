package streams

import (
	"math"

	"snag/recording"
)

// openings are the seconds that have some of what a server had kept and sent at once. The
// events are by time, as the course is.
func (c *course) openings(events []recording.Event, moved []float64) []bool {
	out := make([]bool, len(c.t))
	next, first := 0, recording.Time(math.MinInt64/2)
	for i, t := range c.t {
		for ; next < len(events) && events[next].T <= t; next++ {
			if events[next].Kind == recording.EventStreamFirstFrame {
				first = events[next].T
			}
		}
		out[i] = t.Sub(first) < opening && (math.IsNaN(moved[i]) || moved[i] > c.length(i)+ahead)
	}
	return out
}

// rates are what grew by the seconds that it took.
func (c *course) rates(grown []float64, opens []bool) []float64 {
	out := empty(len(c.t))
	for i := range out {
		if !opens[i] {
			out[i] = grown[i] / c.length(i)
		}
	}
	return out
}

// segmentRates are the rates of what comes in segments: by how far the timestamps moved
// over the last ten seconds, and 0 while it is frozen.
func (c *course) segmentRates(grown, moved []float64, frozen []bool) []float64 {
	out := empty(len(c.t))
	n, seconds, from := 0.0, 0.0, 0
	add := func(i int, sign float64) {
		if !math.IsNaN(grown[i]) && !math.IsNaN(moved[i]) {
			n, seconds = n+sign*grown[i], seconds+sign*moved[i]
		}
	}
	for i := range out {
		add(i, 1)
		for ; c.t[i].Sub(c.t[from]) >= rated; from++ {
			add(from, -1)
		}
		switch {
		case frozen[i]:
			out[i] = 0
		case seconds >= 0.5:
			out[i] = n / seconds
		}
	}
	return out
}

package streams

import (
	"math"

	"snag/recording"
)

// openings are the seconds that have some of what a server had kept and sent at once.
func (c *course) openings(events []recording.Event, moved []float64) []bool {
	out := make([]bool, len(c.t))
	for _, e := range events {
		if e.Kind != recording.EventStreamFirstFrame {
			continue
		}
		for i, t := range c.t {
			if t >= e.T && t.Sub(e.T) < opening && (math.IsNaN(moved[i]) || moved[i] > c.length(i)+ahead) {
				out[i] = true
			}
		}
	}
	return out
}

// rate is what grew by the seconds that it took. What comes in segments has it over the
// last ten seconds, and none while it is frozen.
func (c *course) rate(i int, grown, over []float64, opens []bool, frozen []recording.Interval, segments bool) float64 {
	if !segments {
		if opens[i] || math.IsNaN(grown[i]) {
			return nan
		}
		return grown[i] / over[i]
	}
	for _, f := range frozen {
		if c.t[i] > f.Start && (f.End == 0 || c.t[i] <= f.End) {
			return 0
		}
	}
	n, seconds := 0.0, 0.0
	for j := i; j >= 0 && c.t[i].Sub(c.t[j]) < rated; j-- {
		if !math.IsNaN(grown[j]) && !math.IsNaN(over[j]) {
			n, seconds = n+grown[j], seconds+over[j]
		}
	}
	if seconds < 0.5 {
		return nan
	}
	return n / seconds
}

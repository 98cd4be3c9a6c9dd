package suspects

import (
	"fmt"
	"time"

	"snag/recording"
)

// lasting writes a time in seconds as people read it: 0.25 ms, 41 ms, 3.6 s.
func lasting(seconds float64) string {
	switch {
	case seconds >= 10:
		return count(float64(int(seconds+0.5))) + " s"
	case seconds >= 1:
		return fmt.Sprintf("%.1f s", seconds)
	case seconds >= 0.01:
		return fmt.Sprintf("%.0f ms", 1000*seconds)
	}
	return fmt.Sprintf("%.2g ms", 1000*seconds)
}

// totalLength is how long the intervals last together, in seconds; open ones
// last until end.
func totalLength(all []recording.Interval, end recording.Time) float64 {
	var sum time.Duration
	for _, i := range all {
		sum += i.Length(end)
	}
	return sum.Seconds()
}

// covers tells whether one of the intervals holds at t.
func covers(all []recording.Interval, t recording.Time) bool {
	for _, i := range all {
		if i.Covers(t) {
			return true
		}
	}
	return false
}

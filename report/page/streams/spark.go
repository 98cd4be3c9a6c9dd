package streams

import (
	"math"

	"snag/recording"
)

// columns of a row's curve at the most.
const columns = 60

// spark draws frames per second over a window, of each column the least: "0" is none, "1" to
// "9" up to the stream's own rate, a blank is not measured.
func spark(t []recording.Time, v []float64, window recording.Interval, full float64) string {
	n := min(columns, max(1, int(window.End.Sub(window.Start).Seconds())))
	least := empty(n)
	if full <= 0 {
		for _, x := range v {
			if !math.IsNaN(x) {
				full = max(full, x)
			}
		}
	}
	for i, at := range t {
		// A value is of the time before it.
		c := int(int64(n) * int64(at.Sub(window.Start)-1e6) / max(int64(window.End.Sub(window.Start)), 1))
		if c = min(c, n-1); c < 0 || math.IsNaN(v[i]) {
			continue
		}
		if math.IsNaN(least[c]) || v[i] < least[c] {
			least[c] = v[i]
		}
	}
	out := make([]byte, n)
	for i, x := range least {
		out[i] = bar(x, full)
	}
	return string(out)
}

func bar(x, full float64) byte {
	switch {
	case math.IsNaN(x):
		return ' '
	case x <= 0 || full <= 0:
		return '0'
	}
	// A twentieth less than full is still a whole bar: a second has 24 or 26 frames of 25
	// as its limits fall.
	return byte('1' + min(int(x/full*1.05*9), 8))
}

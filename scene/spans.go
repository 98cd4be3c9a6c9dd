package scene

import (
	"snag/recording"
	"snag/recording/intervals"
)

// spans joins the steps from one row to the next in which holds is true into
// intervals. Rows are skipped while a socket is idle and unchanged, so a step
// may be longer than a second.
func spans(k *Socket, holds func(a, b recording.Socket) bool) []recording.Interval {
	var out []recording.Interval
	for i := 1; i < len(k.Rows); i++ {
		a, b := k.Rows[i-1], k.Rows[i]
		if holds(a, b) {
			out = append(out, recording.Interval{Start: a.T, End: b.T})
		}
	}
	return intervals.Merge(out, 0)
}

// growing is when a running count of the socket grew.
func growing(k *Socket, value func(recording.Socket) float64) []recording.Interval {
	return spans(k, func(a, b recording.Socket) bool { return value(b) > value(a) })
}

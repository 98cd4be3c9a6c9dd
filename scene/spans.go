package scene

import (
	"time"

	"snag/recording"
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
	return touching(out)
}

// growing is when a running count of the socket grew.
func growing(k *Socket, value func(recording.Socket) float64) []recording.Interval {
	return spans(k, func(a, b recording.Socket) bool { return value(b) > value(a) })
}

// touching joins intervals, in order, that touch.
func touching(all []recording.Interval) []recording.Interval {
	var out []recording.Interval
	for _, i := range all {
		if n := len(out); n > 0 && i.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, i.End)
			continue
		}
		out = append(out, i)
	}
	return out
}

func total(all []recording.Interval) time.Duration {
	var sum time.Duration
	for _, i := range all {
		sum += i.Length(i.Start)
	}
	return sum
}

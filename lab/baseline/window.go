package baseline

import (
	"strings"
	"time"

	"snag/recording"
)

// perNamespace reports whether a counter belongs to a network namespace; the others
// are the machine's.
func perNamespace(name string) bool {
	for _, prefix := range []string{"node_netstat_", "node_network_", "node_qdisc_", "snag_qdisc_", "node_sockstat_TCP", "node_sockstat_UDP"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// before cuts a series to its points in (end − length, end], with the last one
// before as the start of the first step. The bool is false where fewer than two
// points are left: not measured.
func before(s recording.Series, end recording.Time, length time.Duration) (recording.Series, bool) {
	from := end.Add(-length)
	first, last := -1, -1
	for i, p := range s.Points {
		if p.T <= from {
			first = i
		}
		if p.T <= end {
			last = i
		}
	}
	first = max(first, 0)
	if last-first < 1 {
		return s, false
	}
	s.Points = s.Points[first : last+1]
	return s, true
}

// span is the seconds between a series' first and last point.
func span(s recording.Series) float64 {
	return s.Points[len(s.Points)-1].T.Sub(s.Points[0].T).Seconds()
}

// rate is a counter's growth per second over what there is of the window.
func rate(s recording.Series, end recording.Time, length time.Duration) (float64, bool) {
	cut, ok := before(s, end, length)
	if !ok || span(cut) <= 0 {
		return 0, false
	}
	grown, ok := cut.Increase()
	return grown / span(cut), ok
}

// highest is a gauge's greatest value in the window.
func highest(s recording.Series, end recording.Time, length time.Duration) (float64, bool) {
	from := end.Add(-length)
	most, seen := 0.0, false
	for _, p := range s.Points {
		if p.T > from && p.T <= end && (!seen || p.V > most) {
			most, seen = p.V, true
		}
	}
	return most, seen
}

// at is a gauge's last value at that time.
func at(s recording.Series, end recording.Time) (float64, bool) {
	return highest(s, end, 15*time.Second) // two rounds of what is read every 5 s, and a late one
}

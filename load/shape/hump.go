package shape

// Hump is answers that take longer at a lower rate than at a higher one.
type Hump struct {
	Peak, Beyond At // the slowest rate, and the fastest beyond it
}

// What makes a hump: that much longer, in time and as a ratio, and in each of the repeats. Idle states of a
// CPU and cold caches take microseconds, and a delayed acknowledgement 40 ms.
const (
	leastHump   = 2e-3
	leastRatio  = 3
	leastEach   = 1.5
	leastSolid  = 2 // repeats whose figures are the service's
	leastOfSent = 0.98
)

// FindHump looks for the largest one, on one number of connections.
func FindHump(all []At) (h Hump, found bool) {
	for i, peak := range all {
		if peak.Repeats < leastSolid {
			continue
		}
		for _, beyond := range all[i+1:] {
			if beyond.Repeats < leastSolid || beyond.Answers < leastOfSent*beyond.Rate || peak.Answers < leastOfSent*peak.Rate {
				continue // overloaded, which is another matter
			}
			if peak.P50 < leastRatio*beyond.P50 || peak.P50-beyond.P50 < leastHump || peak.Low < leastEach*beyond.High {
				continue
			}
			if !found || peak.P50-beyond.P50 > h.Peak.P50-h.Beyond.P50 {
				h, found = Hump{peak, beyond}, true
			}
		}
	}
	return h, found
}

// FindDelay looks for answers that take at least so long in each of the repeats: the lowest rate. A service that is
// overloaded is as slow; what it comes from, experiments tell.
func FindDelay(all []At, least float64) (at At, found bool) {
	for _, a := range all {
		if a.Repeats >= leastSolid && a.Low >= least {
			return a, true
		}
	}
	return at, false
}

// Pair is one run as asked, and one in which one thing was changed, one after the other.
type Pair struct{ As, Changed Point }

// Frees reports whether a change takes most of the time away, in each of at least three pairs.
func Frees(pairs []Pair) bool {
	for _, p := range pairs {
		if p.As.P50 == 0 || p.Changed.P50 == 0 || p.As.P50 < leastRatio*p.Changed.P50 || p.As.P50-p.Changed.P50 < leastHump {
			return false
		}
	}
	return len(pairs) >= 3
}

package shape

// Hysteresis is a service that is still slow after it had too many requests.
type Hysteresis struct {
	Rested, After float64 // s: the median p50 at the same rate
	Rate          float64
}

// FindHysteresis compares runs at one rate after rest with runs at that rate directly after an overload.
// All of the latter have to be twice as slow.
func FindHysteresis(rested, after []Point) (h Hysteresis, found bool) {
	if len(rested) < 3 || len(after) < 3 {
		return h, false
	}
	var a, b []float64
	for _, p := range rested {
		a = append(a, p.P50)
	}
	for _, p := range after {
		b = append(b, p.P50)
	}
	h = Hysteresis{median(a), median(b), rested[0].Rate}
	return h, b[0] > 2*a[len(a)-1] && h.After-h.Rested > 1e-3 // median sorts
}

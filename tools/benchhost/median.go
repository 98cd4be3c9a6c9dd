package benchhost

import "slices"

// Median is the middle of some values, of which there is at least one.
func Median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

package shape

import (
	"cmp"
	"slices"

	"snag/internal/sorting"
)

// Cliff is a size of messages from which on answers take far longer, or do not come.
type Cliff struct {
	Below, From At
	Never       bool // no answer comes from From on
}

// FindCliff looks for the largest one among the sizes of one rate on one number of connections. A message
// of twice the size may take twice the time; three times and 2 ms more is no longer its length.
func FindCliff(all []At) (c Cliff, found bool) {
	by := map[[2]float64][]At{}
	for _, a := range all {
		k := [2]float64{a.Rate, float64(a.Conns)}
		by[k] = append(by[k], a)
	}
	for _, sizes := range by {
		sorting.By(sizes, func(a, b At) int { return cmp.Compare(a.Size, b.Size) })
		for i := 1; i < len(sizes); i++ {
			below, from := sizes[i-1], sizes[i]
			if below.Repeats < leastSolid {
				continue
			}
			if from.P50 == 0 && from.Sent > 0 && from.Lost > 0 && answersNever(sizes[i:]) {
				return Cliff{below, from, true}, true
			}
			larger := float64(from.Size) / float64(below.Size)
			if from.Repeats < leastSolid || from.P50 < leastRatio*max(larger/2, 1)*below.P50 || from.P50-below.P50 < leastHump || from.Low < leastEach*below.High {
				continue
			}
			if !found || from.P50-below.P50 > c.From.P50-c.Below.P50 {
				c, found = Cliff{below, from, false}, true
			}
		}
	}
	return c, found
}

func answersNever(all []At) bool {
	return !slices.ContainsFunc(all, func(a At) bool { return a.P50 > 0 })
}

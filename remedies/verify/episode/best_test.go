package episode

import (
	"math"
	"testing"
)

// poissonAt is the chance of k onsets where so many are expected.
func poissonAt(k int, mean float64) float64 {
	log, _ := math.Lgamma(float64(k + 1))
	return math.Exp(-mean + float64(k)*math.Log(mean) - log)
}

// bestOfChance is how many cures any test can see of trouble whose onsets come by chance
// (Poisson), in a recording before of so many mean periods and a quiet time of so many, when
// it calls at most 5 % gone of those that are not, however often they come. What a test has
// is the number of onsets before: with k of them, and none after, it says gone from some k
// on, and of the last k in some part, by which the 5 % are used up (Neyman, Pearson 1933).
// Only recordings with an onset count: else nobody looks for a remedy.
func bestOfChance(before, after float64) float64 {
	said := func(least int, part, mean float64) float64 {
		sum := part * poissonAt(least-1, mean)
		for k := least; k < 100; k++ {
			sum += poissonAt(k, mean)
		}
		return sum / -math.Expm1(-mean)
	}
	falsely := func(least int, part float64) (worst float64) {
		for mean := 0.02; mean < 40; mean *= 1.06 { // onsets in the recording before
			worst = max(worst, said(least, part, mean)*math.Exp(-mean*after/before))
		}
		return worst
	}
	least := 2
	for falsely(least, 0) > 0.05 {
		least++
	}
	part := 0.0
	for step := 0.5; step > 1e-4; step /= 2 {
		if falsely(least, part+step) <= 0.05 {
			part += step
		}
	}
	return said(least, part, before)
}

// The figures of docs/tune.md.
func TestTheBestThatCanBeToldOfTroubleByChance(t *testing.T) {
	for _, c := range []struct{ before, after, most float64 }{
		{3, 3, 0.57}, {3, 22, 0.85}, {6, 3, 0.71}, {6, 6, 0.93}, {8, 4, 0.9}, {12, 3, 0.8}, {12, 4, 0.94},
	} {
		if got := bestOfChance(c.before, c.after); math.Abs(got-c.most) > 0.006 {
			t.Errorf("%g periods before, %g after: %.3f, not %.2f", c.before, c.after, got, c.most)
		}
	}
}

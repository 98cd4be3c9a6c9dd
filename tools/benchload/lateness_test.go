package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Requests at an interval that is not quite what was asked for, each late by something up to a bound.
func TestLatenesses(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, bound := range []float64{0, 50e3, 1e6} {
		var arrivals [][]int64
		for conn := range 10 {
			var at []int64
			for i := range 1000 {
				at = append(at, int64(1e18)+int64(conn)*777_777+int64(float64(i)*10.01e6+bound*random.Float64()))
			}
			arrivals = append(arrivals, at)
		}
		lags := latenesses(append(arrivals, []int64{5, 6, 7})) // a connection with too few says nothing
		if got := quantile(lags, 0.5); len(lags) != 10_000 || math.Abs(got-bound/2) > 0.05*bound+20 {
			t.Errorf("late by up to %g ns: half within %g of %d", bound, got, len(lags))
		}
	}
	if lags := latenesses([][]int64{{1, 2, 3}}); len(lags) != 0 {
		t.Errorf("%v of three requests", lags)
	}
}

// A pause of a generator that catches up is late for the requests that were due meanwhile, and no others.
func TestAPauseIsLate(t *testing.T) {
	t.Parallel()
	var at []int64
	for i := range int64(1000) {
		due := i * 10_000_000
		if due > 3_020_000_000 && due < 3_220_000_000 {
			due = 3_220_000_000
		}
		at = append(at, due)
	}
	late := 0
	for _, l := range latenesses([][]int64{at}) {
		if l > 1e6 {
			late++
		}
	}
	if late < 15 || late > 25 {
		t.Errorf("%d requests were late, want some 19", late)
	}
}

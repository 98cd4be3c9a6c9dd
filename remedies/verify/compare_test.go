package verify

import (
	"math/rand/v2"
	"testing"
)

// come are ways in which a symptom comes: what one second has of it.
var come = map[string]struct {
	counts bool
	second func(*rand.Rand) float64
}{
	"steadily":            {true, func(r *rand.Rand) float64 { return poisson(r, 20) }},
	"seldom":              {true, func(r *rand.Rand) float64 { return poisson(r, 1) }},
	"in bursts":           {true, func(r *rand.Rand) float64 { return 40 * poisson(r, 0.5) }},
	"in half the seconds": {false, func(r *rand.Rand) float64 { return float64(r.IntN(2)) }},
	"in a few seconds":    {false, func(r *rand.Rand) float64 { return float64(max(0, r.IntN(5)-3)) }},
	"as a latency":        {false, func(r *rand.Rand) float64 { return 0.04 * (0.5 + r.Float64()) }},
}

func poisson(r *rand.Rand, mean float64) float64 {
	n, sum := -1, 0.0
	for sum < mean {
		sum += r.ExpFloat64()
		n++
	}
	return float64(n)
}

func window(r *rand.Rand, n int, counts bool, second func(*rand.Rand) float64) seconds {
	s := seconds{bad: make([]float64, n), counts: counts, measured: true}
	for i := range s.bad {
		s.bad[i] = second(r)
	}
	return s
}

// What did not change is not called a success: two windows of the same thing, 500
// times for each way in which it comes and each length.
func TestNoChangeIsNoSuccess(t *testing.T) {
	const times = 500
	for name, c := range come {
		for _, n := range []int{8, 15, 30, 60} {
			rng := rand.New(rand.NewPCG(7, uint64(n)))
			got := map[Outcome]int{}
			for range times {
				got[compare(window(rng, n, c.counts, c.second), window(rng, n, c.counts, c.second)).Outcome]++
			}
			t.Logf("%-20s %2d s: %v", name, n, got)
			if wrong := got[Gone] + got[Reduced]; wrong > times/100 {
				t.Errorf("%s, %d s: called a success %d times of %d: %v", name, n, wrong, times, got)
			}
			if got[Worse] > times/100 {
				t.Errorf("%s, %d s: called worse %d times of %d", name, n, got[Worse], times)
			}
		}
	}
}

// What is gone is called so, where it had come often enough to tell.
func TestWhatIsGone(t *testing.T) {
	const times = 200
	for name, c := range come {
		for _, n := range []int{8, 15, 30, 60} {
			rng := rand.New(rand.NewPCG(8, uint64(n)))
			got := map[Outcome]int{}
			for range times {
				none := window(rng, n, c.counts, func(*rand.Rand) float64 { return 0 })
				got[compare(window(rng, n, c.counts, c.second), none).Outcome]++
			}
			t.Logf("%-20s %2d s: %v", name, n, got)
			often := name == "steadily" || name == "as a latency" || n >= 30 && name == "in half the seconds" || n >= 60
			if often && got[Gone] < times*9/10 {
				t.Errorf("%s, %d s: %v", name, n, got)
			}
			if got[Gone]+got[CantTell] != times {
				t.Errorf("%s, %d s: %v", name, n, got)
			}
		}
	}
}

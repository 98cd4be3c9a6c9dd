package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// failing are the answers of 30 s at a rate, of which a share fails, in bursts of some.
func failing(r *rand.Rand, rate, share float64, burst int) (out []block) {
	p := distuv.Poisson{Lambda: rate * blockLeast * share / float64(burst), Src: r}
	for range 15 {
		n := rate * blockLeast
		errors := 0.0
		if share > 0 {
			for range int(p.Rand()) {
				errors += 1 + float64(r.IntN(2*burst-1)) // burst on average
			}
		}
		out = append(out, block{part: math.Min(n, errors), of: n})
	}
	return out
}

// One error in twenty of 300 answers, against none, must be found in most cases: 12 errors are enough
// at the level of 60 figures, and 15 that are drawn are fewer in one case of five. Errors that come in bursts, as many
// on either side, must not be, over 60 figures at once in one comparison of twenty.
func TestRareErrors(t *testing.T) {
	const figures, comparisons = 60, 100
	r := rand.New(rand.NewPCG(11, 3)) //nolint:gosec // the same draws each time
	for _, c := range []struct {
		a, b        float64
		burst       int
		least, most float64
	}{
		{0, 0.05, 1, 0.7, 1}, {0.005, 0.08, 1, 0.9, 1},
		{0.02, 0.02, 1, 0, 0.05}, {0.02, 0.02, 3, 0, 0.05}, {0.03, 0.03, 8, 0, 0.05}, {0.05, 0.05, 20, 0, 0.05},
	} {
		found := 0
		for range comparisons {
			any := false
			tried := figures
			if c.a != c.b {
				tried = 1 // the others do not differ
			}
			for range tried {
				one := newChange(failing(r, 10, c.a, c.burst), failing(r, 10, c.b, c.burst), leastShare, events)
				one.judge(figures)
				any = any || one.Differs()
			}
			if any {
				found++
			}
		}
		t.Logf("%v: %d of %d", c, found, comparisons)
		if share := float64(found) / comparisons; share < c.least || share > c.most {
			t.Errorf("%+v: found in %.2f of the comparisons", c, share)
		}
	}
}

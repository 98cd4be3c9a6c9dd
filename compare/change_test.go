package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drawn are blocks of a figure whose seconds go up and down together.
func drawn(r *rand.Rand, n int, mean, spread float64) (out []block) {
	for range n {
		answers := math.Floor(20 + 10*r.Float64())
		out = append(out, block{part: answers * mean * math.Exp(spread*r.NormFloat64()), of: answers})
	}
	return out
}

// Without a difference a change may be found in one comparison of twenty, however many figures each has;
// with one it must be found where it is large beside the noise.
func TestChangesOfKnownSize(t *testing.T) {
	const figures, comparisons = 20, 200
	r := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // the same draws each time
	for _, c := range []struct {
		blocks      int
		spread      float64
		times       float64
		least, most float64
	}{
		{15, 0.1, 1, 0, 0.08}, {15, 0.5, 1, 0, 0.08}, {5, 0.3, 1, 0, 0.08},
		{15, 0.1, 1.5, 0.99, 1}, {30, 0.3, 2, 0.99, 1}, {6, 0.1, 2, 0.95, 1},
	} {
		found := 0
		for range comparisons {
			any := false
			for range figures {
				one := newChange(drawn(r, c.blocks, 0.01, c.spread), drawn(r, c.blocks, 0.01*c.times, c.spread), 0, amounts)
				one.judge(figures)
				any = any || one.Differs()
				any = any || one.sure // however small
				if one.sure && c.times == 1 && one.Low <= 1 && one.High >= 1 {
					t.Errorf("a change whose interval leaves no change in: %+v", one)
				}
			}
			if any {
				found++
			}
		}
		if share := float64(found) / comparisons; share < c.least || share > c.most {
			t.Errorf("%d blocks of spread %.2g, times %.2g: found in %.3f of the comparisons", c.blocks, c.spread, c.times, share)
		}
	}
}

// What is there on one side alone differs if it is there all the time, and not if it came once.
func TestChangesFromNothing(t *testing.T) {
	none, once, always := make([]block, 10), make([]block, 10), make([]block, 10)
	for i := range none {
		none[i].of, once[i].of, always[i].of = 2, 2, 2
		always[i].part = 5 + float64(i%3)
	}
	once[3].part = 40
	for name, c := range map[string]struct {
		b    []block
		want bool
	}{"once": {once, false}, "always": {always, true}, "never": {none, false}} {
		for _, back := range []bool{false, true} {
			one := newChange(none, c.b, 0, amounts)
			if back {
				one = newChange(c.b, none, 0, amounts)
			}
			one.judge(10)
			if one.Differs() != c.want || one.Worse() != (c.want && !back) {
				t.Errorf("%s, back %v: %+v", name, back, one)
			}
		}
	}
}

package compare

import (
	"math"
	"math/rand/v2"

	"snag/internal/distribution"
)

// block is a stretch of a recording: what was counted, and of how much (answers, or seconds). Figures
// of neighbouring seconds are alike; those of blocks are nearly independent.
type block struct{ part, of float64 }

// Change is how a figure differs: a ratio of sums in A and in B.
type Change struct {
	A, B float64
	// Low and High bound B/A; both 0: one of them is 0, and there is no ratio.
	Low, High float64

	kind   kind
	a, b   []block
	least  float64 // a smaller difference than this matters to nobody, and a smaller ratio than leastRatio
	sure   bool    // the interval leaves no change out
	judged bool
}

// Worse reports whether B is more than A, beyond chance and by enough to matter.
func (c Change) Worse() bool { return c.Differs() && c.B > c.A }

// Differs reports whether B differs from A, beyond chance and by enough to matter.
func (c Change) Differs() bool {
	return c.judged && c.sure && math.Abs(c.B-c.A) >= c.least && (c.A == 0 || c.B == 0 || c.ratio() >= leastRatio)
}

// ratio of the greater to the smaller.
func (c Change) ratio() float64 { return max(c.B/c.A, c.A/c.B) }

// More is by how much B is more than A, 0.41 for 41 %; +Inf where A is 0.
func (c Change) More() float64 { return c.B/c.A - 1 }

const (
	resamples  = 400
	fewBlocks  = 4
	leastRatio = 1.1
)

// kind is what the part of a block is.
type kind int

const (
	amounts kind = iota // what is measured: seconds, bytes
	events              // what is counted, and may be rare: errors, drops
)

func newChange(a, b []block, least float64, k kind) Change {
	return Change{A: ratioOf(a), B: ratioOf(b), kind: k, a: a, b: b, least: least}
}

func ratioOf(all []block) float64 {
	part, of := 0.0, 0.0
	for _, x := range all {
		part += x.part
		of += x.of
	}
	if of == 0 {
		return 0
	}
	return part / of
}

// enough reports whether there are enough blocks to judge.
func (c Change) enough() bool { return len(c.a) >= fewBlocks && len(c.b) >= fewBlocks }

// judge finds the interval that holds at once with those of m comparisons in 95 % of all cases. The
// spread is that of a block bootstrap (Künsch, Annals of Statistics 17, 1989); with few blocks it is
// itself not known well, which Student's t allows for.
func (c *Change) judge(m int) {
	if !c.enough() {
		return
	}
	c.judged = true
	if c.kind == events && rare(c.a, c.b) {
		c.judgeRare(0.05 / float64(max(m, 1)))
		return
	}
	linear := c.A == 0 || c.B == 0
	sa, sb := spread(c.a, linear), spread(c.b, linear)
	se := math.Hypot(sa, sb)
	wide := distribution.StudentsT(1-0.05/float64(max(m, 1))/2, freedom(sa, sb, len(c.a), len(c.b))) * se
	if linear {
		c.sure = math.Abs(c.B-c.A) > wide && c.A != c.B
		return
	}
	d := math.Log(c.B / c.A)
	c.Low, c.High = math.Exp(d-wide), math.Exp(d+wide)
	c.sure = math.Abs(d) > wide
}

// spread is the standard error of the ratio of blocks, or of its logarithm.
func spread(all []block, linear bool) float64 {
	r := rand.New(rand.NewPCG(1, uint64(len(all)))) //nolint:gosec // the same answer each time
	n, sum, squares := 0.0, 0.0, 0.0
	one := make([]block, len(all))
	for range resamples {
		for i := range one {
			one[i] = all[r.IntN(len(all))]
		}
		v := ratioOf(one)
		if !linear {
			if v <= 0 {
				continue
			}
			v = math.Log(v)
		}
		n++
		sum += v
		squares += v * v
	}
	if n < resamples/2 {
		return math.Inf(1) // most of it is in a few blocks
	}
	v := max(0, squares/n-sum*sum/n/n)
	k := float64(len(all))
	return math.Sqrt(v * k / (k - 1)) // resampling takes the blocks for all that there is
}

// freedom is Welch's (Biometrika 34, 1947).
func freedom(sa, sb float64, na, nb int) float64 {
	va, vb := sa*sa, sb*sb
	if va+vb == 0 || math.IsInf(va+vb, 0) {
		return float64(na + nb - 2)
	}
	return (va + vb) * (va + vb) / (va*va/float64(na-1) + vb*vb/float64(nb-1))
}

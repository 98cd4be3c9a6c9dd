package ablate

import "math"

// base is what a comparison starts from.
type base int

const (
	allOn  base = iota // its group is left out
	allOff             // its group alone is on
)

// contrast is one comparison: with its group on and off, all else as its base has it.
type contrast struct {
	base  base
	group []int
	whole bool // all on against all off: it has no runs but the bases'
	// What rounds gave. A round in which a run failed has a share of failures and no
	// difference.
	diffs         []float64 // with − without, turned so that more is better
	failures      []float64 // failures without − with, each a share of runs
	anyFailed     bool
	byFailing     bool // what was found is of the failures
	with, without sum
	spent         float64 // of the error, by looks so far
	judged        bool
	found         Outcome
	interval      Interval // of the logarithm of a ratio, or a share of the level
}

// sum is of the runs that gave a figure.
type sum struct {
	n     int
	total float64
}

func (s *sum) add(ys []float64) {
	for _, y := range ys {
		if !math.IsNaN(y) {
			s.n++
			s.total += y
		}
	}
}

// mean is 0 where no run gave a figure: see n.
func (s sum) mean() float64 {
	if s.n == 0 {
		return 0
	}
	return s.total / float64(s.n)
}

// add takes a round: the base's runs and the comparison's own.
func (c *contrast) add(o Options, base, own []float64) {
	with, without := base, own
	if c.base == allOff && !c.whole {
		with, without = own, base
	}
	c.with.add(with)
	c.without.add(without)
	a, b := o.mean(with), o.mean(without)
	c.failures = append(c.failures, failed(without)-failed(with))
	if failed(with)+failed(without) > 0 {
		c.anyFailed = true
	}
	if math.IsNaN(a) || math.IsNaN(b) {
		return
	}
	d := a - b
	if !o.Higher {
		d = -d
	}
	c.diffs = append(c.diffs, d)
}

// rounds is how often it was measured.
func (c *contrast) rounds() int { return len(c.failures) }

// mean is what differences are taken of: of ratios the logarithms.
func (o Options) mean(ys []float64) float64 {
	if !o.Ratio {
		return meanOf(ys)
	}
	logs := make([]float64, len(ys))
	for i, y := range ys {
		logs[i] = math.Log(y)
	}
	return meanOf(logs)
}

// meanOf leaves failed runs out; it is NaN where all failed.
func meanOf(ys []float64) float64 {
	var s sum
	s.add(ys)
	if s.n == 0 {
		return math.NaN()
	}
	return s.mean()
}

// failed is the share of runs that failed.
func failed(ys []float64) float64 {
	n := 0
	for _, y := range ys {
		if math.IsNaN(y) {
			n++
		}
	}
	return float64(n) / float64(max(len(ys), 1))
}

package compare

import (
	"math"

	"snag/internal/distribution"
)

// rarest is how many events one side has at most to be rare: the spread of so few does not show in
// blocks, most of which have none.
const rarest = 30

func rare(a, b []block) bool { return min(sum(a).part, sum(b).part) <= rarest }

func sum(all []block) (out block) {
	for _, x := range all {
		out.part += x.part
		out.of += x.of
	}
	return out
}

// judgeRare compares two counts exactly: of all events, those in B are a binomial share if nothing
// differs, and the bounds of that share (Clopper and Pearson, Biometrika 26, 1934) are those of the
// ratio. Events that come in bursts count as fewer, by how much more unevenly they fall on the blocks
// than single ones would.
func (c *Change) judgeRare(alpha float64) {
	a, b := sum(c.a), sum(c.b)
	if a.of <= 0 || b.of <= 0 || a.part+b.part == 0 {
		return
	}
	times := unevenness(c.a, c.b)
	na, nb := a.part/times, b.part/times
	low, high := 0.0, 1.0
	if nb > 0 {
		low = distribution.Beta(alpha/2, nb, na+1)
	}
	if na > 0 {
		high = distribution.Beta(1-alpha/2, nb+1, na)
	}
	ratio := func(share float64) float64 { return share / (1 - share) * a.of / b.of }
	c.sure = ratio(low) > 1 || high < 1 && ratio(high) < 1
	if na > 0 && nb > 0 {
		c.Low, c.High = ratio(low), ratio(high)
	}
}

// unevenness is the variance of the blocks' counts in parts of their mean (Pearson's statistic by its
// degrees of freedom): 1 where they fall as singly as by chance. As few blocks do not show it well,
// its upper bound is taken once it is beyond chance.
func unevenness(a, b []block) float64 {
	square, freedom := 0.0, 0.0
	for _, side := range [][]block{a, b} {
		all := sum(side)
		if all.part == 0 {
			continue
		}
		for _, x := range side {
			if want := all.part * x.of / all.of; want > 0 {
				square += (x.part - want) * (x.part - want) / want
			}
		}
		freedom += float64(len(side) - 1)
	}
	if freedom <= 0 {
		return 1
	}
	if square <= distribution.ChiSquared(0.9, freedom) {
		return 1
	}
	return math.Max(1, square/distribution.ChiSquared(0.1, freedom))
}

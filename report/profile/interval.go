package profile

import "math"

// share is a part of a profile, estimated by samples: how great, and by how many
// samples that are worth one independent look each.
type share struct{ p, n float64 }

// wilson is the interval of a share at z standard errors (Wilson, JASA 22, 1927): it
// holds for shares near 0 and for few samples, where p ± z·se does not.
func (s share) wilson(z float64) (low, high float64) {
	if s.n <= 0 {
		return 0, 1
	}
	z2 := z * z
	mid := s.p + z2/(2*s.n)
	half := z * math.Sqrt(s.p*(1-s.p)/s.n+z2/(4*s.n*s.n))
	return max(0, (mid-half)/(1+z2/s.n)), min(1, (mid+half)/(1+z2/s.n))
}

// difference is the interval of b − a, put together of both shares' own (Newcombe,
// Statistics in Medicine 17, 1998, method 10).
func difference(a, b share, za, zb float64) (low, high float64) {
	la, ha := a.wilson(za)
	lb, hb := b.wilson(zb)
	d := b.p - a.p
	low = d - math.Hypot(b.p-lb, ha-a.p)
	high = d + math.Hypot(hb-b.p, a.p-la)
	return max(low, -1), min(high, 1)
}

// zOf is how many standard errors keep m intervals right at once, in 95 % of all
// comparisons (Bonferroni).
func zOf(m int) float64 {
	return math.Sqrt2 * math.Erfinv(1-0.05/float64(max(m, 1)))
}

// student widens z where the spread itself is known by few seconds: the first term
// of Student's t in 1/df (Abramowitz and Stegun 26.7.5).
func student(z float64, df int) float64 {
	if df <= 0 {
		return z
	}
	return z + (z*z*z+z)/(4*float64(df))
}

// worth reports how many independent looks a share's samples are worth. Samples of one
// second are alike (a burst, a request): the spread from second to second reports how
// much (a ratio estimator's variance by linearization; Cochran, Sampling Techniques,
// 6.3). It is never more than most.
//
// xx, xn and nn are the sums over seconds of x², x·n and n², x what the function had
// of the n of that second; all is the sum of n.
func worth(p, xx, xn, nn, all float64, seconds int, most float64) float64 {
	if seconds < fewSeconds || p <= 0 || p >= 1 || all <= 0 {
		return most
	}
	t := float64(seconds)
	v := (xx - 2*p*xn + p*p*nn) / (all * all) * t / (t - 1)
	if v <= 0 {
		return most
	}
	return min(most, p*(1-p)/v)
}

// fewSeconds do not tell how much a share changes from second to second.
const fewSeconds = 8

// ByChance reports whether two shares differ by no more than chance does, each of so
// many independent looks, where m pairs are compared at once.
func ByChance(a, looksA, b, looksB float64, m int) bool {
	z := zOf(m)
	low, high := difference(share{a, looksA}, share{b, looksB}, z, z)
	return low <= 0 && high >= 0
}

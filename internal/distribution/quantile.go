// Package distribution has the quantiles of the distributions that snag decides with, and the two incomplete functions
// that they come from. The tests compare them with gonum's, to 9 digits.
package distribution

import "math"

// StudentsT is the quantile of Student's t distribution with nu > 0 degrees of freedom: what a value is below with
// probability p. It is ±Inf for p of 1 and 0.
func StudentsT(p, nu float64) float64 {
	if p < 0.5 {
		return -StudentsT(1-p, nu)
	}
	// I_x(nu/2, 1/2) with x = nu/(nu+t²) is the chance of |T| > t (Abramowitz and Stegun 26.7.1). Of x and 1-x the
	// smaller one has all its digits.
	beyond := 2 * (1 - p)
	if x := Beta(beyond, nu/2, 0.5); x < 0.5 {
		return math.Sqrt(nu * (1 - x) / x)
	}
	y := Beta(1-beyond, 0.5, nu/2)
	return math.Sqrt(nu * y / (1 - y))
}

// Beta is the quantile of the beta distribution with shapes a and b > 0, from 0 to 1.
func Beta(p, a, b float64) float64 {
	if p >= 1 {
		return 1
	}
	return root(0, 1, func(x float64) bool { return BetaRatio(a, b, x) < p })
}

// ChiSquared is the quantile of the chi-squared distribution with k > 0 degrees of freedom. It is +Inf for p of 1.
func ChiSquared(p, k float64) float64 {
	if p >= 1 {
		return math.Inf(1)
	}
	below := func(x float64) bool { return 1-GammaRatio(k/2, x/2) < p }
	high := max(k, 1)
	for below(high) {
		high *= 2
	}
	return root(0, high, below)
}

// root is where below ends to hold between low and high, by bisection down to neighbouring numbers.
func root(low, high float64, below func(float64) bool) float64 {
	for {
		mid := low + (high-low)/2
		if mid <= low || mid >= high {
			return high
		}
		if below(mid) {
			low = mid
		} else {
			high = mid
		}
	}
}

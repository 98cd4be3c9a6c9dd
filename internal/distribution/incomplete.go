package distribution

import "math"

const (
	// enough is where a series or a fraction ends: what one more term changes, as a ratio.
	enough = 1e-16
	// mostTerms is never reached: about as many are needed as the root of the parameters.
	mostTerms = 1_000_000
	// tiny stands for a denominator of 0 (Thompson and Barnett, J. Comput. Phys. 64, 1986).
	tiny = 1e-300
)

// BetaRatio is the regularized incomplete beta function I_x(a, b): the chance that a beta distributed value is below x.
func BetaRatio(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // the fraction converges fast below (DLMF 8.17.22)
		return 1 - BetaRatio(b, a, 1-x)
	}
	whole, _ := math.Lgamma(a + b)
	left, _ := math.Lgamma(a)
	right, _ := math.Lgamma(b)
	front := math.Exp(whole-left-right+a*math.Log(x)+b*math.Log1p(-x)) / a
	// DLMF 8.17.22: 1/(1 + d1/(1 + d2/(1 + …))).
	return front / fraction(1, func(n int) (numerator, add float64) {
		m := float64(n / 2)
		if n%2 == 0 {
			return m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)), 1
		}
		return -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1)), 1
	})
}

// GammaRatio is the regularized upper incomplete gamma function Q(a, x) = Γ(a, x)/Γ(a), for a > 0: the chance that a
// gamma distributed value of shape a is above x.
func GammaRatio(a, x float64) float64 {
	if x <= 0 {
		return 1
	}
	if math.IsInf(x, 1) {
		return 0
	}
	whole, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(x) - x - whole)
	if x < a+1 { // DLMF 8.7.1, with 8.2.6: the series of P = 1 - Q
		term := 1 / a
		sum := term
		for n := 1.0; n < mostTerms && term > sum*enough; n++ {
			term *= x / (a + n)
			sum += term
		}
		return 1 - front*sum
	}
	// DLMF 8.9.2, contracted: 1/(x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - …))).
	return front / fraction(x+1-a, func(n int) (numerator, add float64) {
		k := float64(n)
		return -k * (k - a), x + 2*k + 1 - a
	})
}

// fraction is first + n1/(a1 + n2/(a2 + …)), by Lentz' method (Applied Optics 15, 1976). term gives the numerator and
// the addend of the n-th level, from 1 on.
func fraction(first float64, term func(n int) (numerator, add float64)) float64 {
	value := first
	c, d := first, 0.0
	for n := 1; n < mostTerms; n++ {
		numerator, add := term(n)
		d = 1 / notZero(add+numerator*d)
		c = notZero(add + numerator/c)
		value *= c * d
		if math.Abs(c*d-1) <= enough {
			break
		}
	}
	return value
}

func notZero(x float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}

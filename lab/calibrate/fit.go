// Package calibrate fits the weights of a confidence to what came true: a logistic
// regression that is held to prior weights, and its check on incidents that the
// fit has not seen.
package calibrate

import (
	"errors"
	"math"
)

// Sample is one accusation, or one that was nearly made.
type Sample struct {
	Group string    // the incident: left out as a whole when the fit is checked
	Terms []float64 // what the weights are for
	Right bool
}

// hold is how strongly a weight is held to its prior: as by as many runs that
// bear it out. With hold 1 a hundred runs outweigh it.
const hold = 1.0

// rounds of Newton's method; the function is convex and a dozen are enough.
const rounds = 50

// Fit returns the weights that make the samples most probable, held to the prior.
// A weight whose sign would turn round is 0: what speaks for a cause never makes it
// less likely. The first one, of the constant term, is free.
func Fit(samples []Sample, prior []float64) ([]float64, error) {
	w, err := fit(samples, prior)
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(w); i++ {
		if w[i]*prior[i] < 0 {
			return Fit(without(samples, i), setZero(prior, i))
		}
	}
	return w, nil
}

// without leaves a term out of the samples.
func without(samples []Sample, term int) []Sample {
	out := append([]Sample(nil), samples...)
	for i := range out {
		out[i].Terms = setZero(out[i].Terms, term)
	}
	return out
}

func setZero(v []float64, i int) []float64 {
	v = append([]float64(nil), v...)
	v[i] = 0
	return v
}

func fit(samples []Sample, prior []float64) ([]float64, error) {
	w := append([]float64(nil), prior...)
	for range rounds {
		gradient, curve := make([]float64, len(w)), square(len(w))
		for i := range w {
			gradient[i] = hold * (w[i] - prior[i])
			curve[i][i] = hold
		}
		for _, s := range samples {
			p := logistic(w, s.Terms)
			miss := p
			if s.Right {
				miss = p - 1
			}
			for i, t := range s.Terms {
				gradient[i] += miss * t
				for j, u := range s.Terms {
					curve[i][j] += p * (1 - p) * t * u
				}
			}
		}
		step, err := solve(curve, gradient)
		if err != nil {
			return nil, err
		}
		next, moved := shorten(samples, prior, w, step)
		if !moved {
			return w, nil
		}
		w = next
	}
	return nil, errors.New("calibrate: the fit did not come to rest")
}

// shorten takes Newton's step, or as much of it as makes the samples more probable:
// far from the best weights the full one goes beyond them. False when no part of
// it does: the weights are the best.
func shorten(samples []Sample, prior, w, step []float64) ([]float64, bool) {
	now := loss(samples, prior, w)
	for part := 1.0; part > 1e-6; part /= 2 {
		next := append([]float64(nil), w...)
		for i := range next {
			next[i] -= part * step[i]
		}
		if l := loss(samples, prior, next); l < now-1e-10 {
			return next, true
		}
	}
	return w, false
}

// loss is minus the logarithm of the samples' probability, and of the prior's.
func loss(samples []Sample, prior, w []float64) float64 {
	sum := 0.0
	for i := range w {
		sum += hold / 2 * (w[i] - prior[i]) * (w[i] - prior[i])
	}
	for _, s := range samples {
		p := logistic(w, s.Terms)
		if !s.Right {
			p = 1 - p
		}
		sum -= math.Log(math.Max(p, 1e-300))
	}
	return sum
}

// Unseen gives each sample the probability that a fit on all other incidents gives
// it.
func Unseen(samples []Sample, prior []float64) ([]float64, error) {
	fits := map[string][]float64{}
	out := make([]float64, len(samples))
	for i, s := range samples {
		if fits[s.Group] == nil {
			var rest []Sample
			for _, o := range samples {
				if o.Group != s.Group {
					rest = append(rest, o)
				}
			}
			w, err := Fit(rest, prior)
			if err != nil {
				return nil, err
			}
			fits[s.Group] = w
		}
		out[i] = logistic(fits[s.Group], s.Terms)
	}
	return out, nil
}

func logistic(w, terms []float64) float64 {
	odds := 0.0
	for i, t := range terms {
		odds += w[i] * t
	}
	return 1 / (1 + math.Exp(-odds))
}

func square(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
	}
	return m
}

// solve is Gauss's elimination of a·x = b with the largest pivot; it writes over a
// and b.
func solve(a [][]float64, b []float64) ([]float64, error) {
	n := len(b)
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i][k]) > math.Abs(a[p][k]) {
				p = i
			}
		}
		if math.Abs(a[p][k]) < 1e-12 {
			return nil, errors.New("calibrate: the terms do not tell the weights apart")
		}
		a[k], a[p], b[k], b[p] = a[p], a[k], b[p], b[k]
		for i := k + 1; i < n; i++ {
			f := a[i][k] / a[k][k]
			for j := k; j < n; j++ {
				a[i][j] -= f * a[k][j]
			}
			b[i] -= f * b[k]
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = b[i]
		for j := i + 1; j < n; j++ {
			x[i] -= a[i][j] * x[j]
		}
		x[i] /= a[i][i]
	}
	return x, nil
}

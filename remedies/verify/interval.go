package verify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// resamples of the bootstrap: its 2.5th and 97.5th percentile are those of 50 each.
const resamples = 2000

// Bootstrap is the interval of 95 % of the mean of values in order of time, by the
// circular block bootstrap (Politis, Romano 1992): neighbouring seconds are alike, so
// they are drawn in blocks, n^(1/3) of them long. A bootstrap of few blocks is too sure
// of itself: it is widened as Student's t is against the normal distribution. The same
// values give the same interval.
func Bootstrap(values []float64) (low, high float64) {
	n := len(values)
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	block := max(1, int(math.Round(math.Cbrt(float64(n)))))
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for k := 0; k < n; k += block {
			at := rng.IntN(n)
			for j := range min(block, n-k) {
				sum += values[(at+j)%n]
			}
		}
		means[i] = sum / float64(n)
	}
	slices.Sort(means)
	mean := 0.0
	for _, v := range values {
		mean += v / float64(n)
	}
	wider := widening(float64(n) / float64(block))
	low = mean - wider*(mean-means[resamples*25/1000])
	high = mean + wider*(means[resamples*975/1000-1]-mean)
	if slices.Min(values) >= 0 {
		low = max(low, 0)
	}
	return low, high
}

// widening is how much wider an interval of m draws is than the bootstrap has it: the
// variance's divisor is m and not m-1, and its quantile is not Student's with m-1
// degrees of freedom (expanded: Abramowitz, Stegun 26.7.5).
func widening(m float64) float64 {
	const z = 1.96
	df := max(m-1, 1.5)
	t := z + (z*z*z+z)/(4*df) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*df*df)
	return t / z * math.Sqrt((df+1)/df)
}

// figure is the mean per second with its interval. Where none was seen, the interval
// is bounded by what before tells of how it comes: in bursts of that size, or in
// seconds of that much.
func (s seconds) figure(before seconds) Figure {
	f := Figure{Value: s.mean()}
	if f.Value > 0 {
		f.Low, f.High = Bootstrap(s.bad)
		return f
	}
	n := float64(len(s.bad))
	if s.counts {
		// No event in n seconds: under 3/n a second (the rule of three, Poisson); an
		// event is as large as the index of dispersion of the counts before.
		f.High = 3 * max(1, before.dispersion()) / n
		return f
	}
	sum, bad := 0.0, 0.0
	for _, v := range before.bad {
		if v > 0 {
			sum, bad = sum+v, bad+1
		}
	}
	if bad > 0 { // not one bad second of n: exact binomial bound
		f.High = (1 - math.Pow(0.05, 1/n)) * sum / bad
	}
	return f
}

// dispersion is the variance over the mean: 1 for events that come one by one.
func (s seconds) dispersion() float64 {
	mean, sq := s.mean(), 0.0
	if mean == 0 {
		return 1
	}
	for _, v := range s.bad {
		sq += (v - mean) * (v - mean)
	}
	return sq / float64(max(1, len(s.bad)-1)) / mean
}

// goneShare of what was before may be left of what is called gone: a counter's stray,
// the first second of a server that begins anew.
const goneShare = 0.05

// compare tells one amount before from the same after.
func compare(before, after seconds) Compared {
	c := Compared{Outcome: CantTell}
	switch {
	case !before.measured:
		c.Why = "it was not measured before"
		return c
	case !after.measured:
		c.Why = "it was not measured this time"
		return c
	}
	c.Before, c.After = before.figure(before), after.figure(before)
	b, a := c.Before, c.After
	switch {
	case b.Value == 0:
		c.Why = "there was none of it before"
	case a.Value <= goneShare*b.Value && a.High <= b.Value/2:
		c.Outcome = Gone
	case a.Value <= goneShare*b.Value:
		c.Why = fmt.Sprintf("it came seldom before: that there was none in %d s may be chance; give it longer (--for)", len(after.bad))
	case a.High < b.Low && a.Value <= 0.8*b.Value:
		c.Outcome = Reduced
	case a.Low > b.High && a.Value >= 1.25*b.Value:
		c.Outcome = Worse
	case a.Value >= lessLoad*b.Value && a.Value <= moreLoad*b.Value:
		c.Outcome = Unchanged
	default:
		c.Why = "before and after differ less than each of them varies: give it longer (--for)"
	}
	return c
}

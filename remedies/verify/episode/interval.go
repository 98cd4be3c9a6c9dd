package episode

import "math"

// Figure is one amount with its interval of 95 %.
type Figure struct {
	Value float64 `json:"value" yaml:"value"`
	Low   float64 `json:"low" yaml:"low"`
	High  float64 `json:"high" yaml:"high"`
}

// leastBlocks of a series: from fewer no interval can be told.
const leastBlocks = 3

// block is how long the blocks of the bootstrap are, in seconds, on average: as one
// episode with its pause, and as long as seconds remember each other. other is the time
// from onset to onset of the other recording, where this one has no pause; 0: none.
func (s Series) block(e Episodes, other float64) float64 {
	n := float64(len(s))
	long := max(math.Cbrt(n), s.memory())
	switch every := e.Every(); {
	case every > 0:
		return max(long, every)
	case e.Steady(0) || e.On == 0 || other > 0:
		return max(long, other)
	}
	return n // nobody knows how often it comes
}

// memory is how many seconds are worth one that is independent: (1+r)/(1-r) of an
// autoregressive series, with the correlation r of neighbours.
func (s Series) memory() float64 { return memoryOf(s.correlation()) }

// mostMemory is one standard error of that correlation more: a short series does not
// show how far its seconds remember.
func (s Series) mostMemory() float64 {
	r, n := s.correlation(), float64(len(s))
	if n < 5 {
		return 1
	}
	return memoryOf(min(r+math.Sqrt((1-r*r)/n), 1-1/n))
}

func memoryOf(r float64) float64 { return (1 + r) / (1 - r) }

// correlation is that of neighbours, not below 0. The estimate of a short series is too
// small by (1+4r)/n (Marriott and Pope 1954, Kendall 1954).
func (s Series) correlation() float64 {
	n, mean := float64(len(s)), s.Mean()
	var c0, c1 float64
	for i, v := range s {
		c0 += (v - mean) * (v - mean)
		if i > 0 {
			c1 += (v - mean) * (s[i-1] - mean)
		}
	}
	if c0 <= 0 || n < 5 {
		return 0
	}
	r := c1 / c0
	return min(max(r+(1+4*max(r, 0))/n, 0), 1-1/n)
}

// variance is the long-run variance of the series: n times that which its mean has in the
// stationary bootstrap with blocks of that mean length, whose resamples are not drawn, since
// it is known (Politis and Romano 1994, Lemma 1).
func (s Series) variance(block float64) float64 {
	n, mean := float64(len(s)), s.Mean()
	stays := 1 - 1/max(block, 1) // the chance that the next second is from the same block
	variance, weight := 0.0, 1.0
	for lag := 0; lag < len(s) && weight > 1e-3; lag++ {
		c := 0.0
		for i, v := range s { // the series is a circle
			c += (v - mean) * (s[(i+lag)%len(s)] - mean)
		}
		c /= n
		if lag == 0 {
			variance = c
		} else {
			variance += 2 * (1 - float64(lag)/n) * weight * c
		}
		weight *= stays
	}
	return max(variance, 0)
}

// figure is the mean with its interval, by its long-run variance. Few blocks are too sure
// of themselves: it is widened as Student's t is against the normal distribution. open:
// there are too few of them for any interval.
func (s Series) figure(block float64) (f Figure, open bool) {
	n := float64(len(s))
	f.Value = s.Mean()
	blocks := n / max(block, 1)
	half := 1.96 * widening(blocks) * math.Sqrt(s.variance(block)/n)
	f.Low, f.High = max(f.Value-half, 0), f.Value+half
	return f, blocks < leastBlocks
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

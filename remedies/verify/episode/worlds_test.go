package episode

import (
	"math"
	"math/rand/v2"
)

// A world is trouble that nothing was done about: what each second has of it.
type world struct {
	name   string
	period float64 // from onset to onset, on average, seconds; 0: it has none
	make   func(r *rand.Rand, n int) []float64
}

// worlds are the ways in which trouble comes of which neighbouring seconds know each
// other.
var worlds = []world{
	episodes("8 s of 40", 8, 40, 0), episodes("8 s of 60", 8, 60, 0), episodes("8 s of 120", 8, 120, 0), episodes("5 s of 40", 5, 40, 0),
	episodes("8 s of 40, jitter 20 %", 8, 40, 0.2), episodes("8 s of 60, jitter 20 %", 8, 60, 0.2), episodes("8 s of 120, jitter 20 %", 8, 120, 0.2),
	episodes("5 s of 40, jitter 50 %", 5, 40, 0.5), episodes("2 s of 15, jitter 50 %", 2, 15, 0.5), episodes("1 s of 10", 1, 10, 0), episodes("30 s of 60", 30, 60, 0),
	level("AR(1) 0.8", 0.8), level("AR(1) 0.95", 0.95), over("AR(1) 0.8 over a floor", 0.8), over("AR(1) 0.95 over a floor", 0.95),
	bursty("bursts of 1 s in 10", 1, 9), bursty("bursts of 3 s in 15", 3, 12), bursty("bursts of 8 s in 40", 8, 32), bursty("bursts of 20 s in 40", 20, 20),
	daily("daily, 1 h", 3600, 0.2), daily("daily, a day", 86400, 0.2), daily("daily, 1 h, often", 3600, 5),
	drifting("drift down to half, seldom", 0.3, 0.5), drifting("drift down to half", 5, 0.5), drifting("drift down to a fifth", 5, 0.2), fading("fading to a fifth", 5, 0.2), wandering("random walk", 0.1),
	alone("one by one, often", func(r *rand.Rand) float64 { return poisson(r, 20) }), alone("one by one, seldom", func(r *rand.Rand) float64 { return poisson(r, 0.2) }),
	alone("many at once", func(r *rand.Rand) float64 { return 40 * poisson(r, 0.5) }), alone("a latency", func(r *rand.Rand) float64 { return 0.04 * (0.5 + r.Float64()) }),
}

// beyond are those in which trouble ends, or nearly, within minutes of the change though
// the change did nothing: nobody can tell that apart. How often it is called gone is
// bounded all the same.
var beyond = []world{
	drifting("drift down to a fifth, seldom", 0.3, 0.2), daily("daily, in 10 min", 600, 0.2), daily("daily, in 10 min, often", 600, 5),
	episodes("8 s of 600", 8, 600, 0), episodes("60 s of 120", 60, 120, 0),
}

// alone has seconds that know nothing of each other.
func alone(name string, second func(*rand.Rand) float64) world {
	return world{name, 0, func(r *rand.Rand, n int) []float64 {
		all := make([]float64, n)
		for i := range all {
			all[i] = second(r)
		}
		return all
	}}
}

// episodes of d seconds, one each period; jitter is the share by which the periods and
// the lengths differ, evenly, to both sides.
func episodes(name string, d, period, jitter float64) world {
	return world{name, period, func(r *rand.Rand, n int) []float64 {
		all := make([]float64, n)
		about := func(v float64) float64 { return v * (1 + jitter*(2*r.Float64()-1)) }
		for at := -period * (1 + r.Float64()); at < float64(n); {
			long := about(d)
			for i := max(0, int(at)); i < n && float64(i) < at+long; i++ {
				part := min(at+long, float64(i+1)) - max(at, float64(i))
				if part > 0 {
					all[i] += poisson(r, 20*part)
				}
			}
			at += about(period)
		}
		return all
	}}
}

func ar1(r *rand.Rand, n int, phi float64) []float64 {
	z, x := make([]float64, n), r.NormFloat64()
	for i := range z {
		x = phi*x + math.Sqrt(1-phi*phi)*r.NormFloat64()
		z[i] = x
	}
	return z
}

// level is always there, and its logarithm is autocorrelated.
func level(name string, phi float64) world {
	return world{name, 0, func(r *rand.Rand, n int) []float64 {
		z := ar1(r, n, phi)
		for i := range z {
			z[i] = math.Exp(0.7 * z[i])
		}
		return z
	}}
}

// over is what of an autocorrelated load is above a capacity: in a third of the time.
func over(name string, phi float64) world {
	return world{name, 0, func(r *rand.Rand, n int) []float64 {
		z := ar1(r, n, phi)
		for i := range z {
			z[i] = max(0, z[i]-0.5)
		}
		return z
	}}
}

// bursty is on and off by a Markov chain.
func bursty(name string, on, off float64) world {
	return world{name, on + off, func(r *rand.Rand, n int) []float64 {
		all, is := make([]float64, n), r.Float64() < on/(on+off)
		for i := range all {
			if is {
				all[i] = max(1, poisson(r, 20))
			}
			if is {
				is = r.Float64() >= 1/on
			} else {
				is = r.Float64() < 1/off
			}
		}
		return all
	}}
}

// daily comes one by one, with a rate that follows a sine of that cycle, down to 0.
func daily(name string, cycle, rate float64) world {
	return world{name, 0, func(r *rand.Rand, n int) []float64 {
		all, phase := make([]float64, n), r.Float64()*2*math.Pi
		for i := range all {
			all[i] = poisson(r, rate*(1+math.Sin(phase+2*math.Pi*float64(i)/cycle)))
		}
		return all
	}}
}

// drifting sinks steadily, to that share of what it was.
func drifting(name string, rate, share float64) world {
	return world{name, 0, func(r *rand.Rand, n int) []float64 {
		all := make([]float64, n)
		for i := range all {
			all[i] = poisson(r, rate*(1-(1-share)*float64(i)/float64(n)))
		}
		return all
	}}
}

// fading sinks by the same share each second, to that share of what it was.
func fading(name string, rate, share float64) world {
	return world{name, 0, func(r *rand.Rand, n int) []float64 {
		all := make([]float64, n)
		for i := range all {
			all[i] = poisson(r, rate*math.Pow(share, float64(i)/float64(n)))
		}
		return all
	}}
}

// wandering is a level whose logarithm is a random walk.
func wandering(name string, step float64) world {
	return world{name, 0, func(r *rand.Rand, n int) []float64 {
		all, x := make([]float64, n), 0.0
		for i := range all {
			x += step * r.NormFloat64()
			all[i] = poisson(r, 10*math.Exp(x))
		}
		return all
	}}
}

// pair draws two windows of a world, the second some time after the first, the first
// with something in it: else nobody would have looked for a remedy.
func (w world) pair(r *rand.Rand, before, after int) (b, a []float64, gap int) {
	for {
		gap = 5 + r.IntN(116)
		all := w.make(r, before+gap+after)
		b, a = all[:before], all[before+gap:]
		for _, v := range b {
			if v > 0 {
				return b, a, gap
			}
		}
	}
}

func poisson(r *rand.Rand, mean float64) float64 {
	n, sum := -1, 0.0
	for sum < mean {
		sum += r.ExpFloat64()
		n++
	}
	return float64(n)
}

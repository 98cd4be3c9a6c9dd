package episode

import "math"

// trend is a line through two recordings with one slope, and a step between them: the
// segmented regression of an interrupted time series (Wagner et al. 2002). A level that was
// falling anyway has no step, however much less of it there is afterwards.
type trend struct {
	n, level, slope, variance [2]float64 // before and after; the variance is that of a second, in the long run
	gap                       float64    // between them, seconds
}

// leastVariance is that of a series that never changes: 0 would know it for sure.
const leastVariance = 1e-9

func trendOf(before, after Series, gap, blockBefore, blockAfter float64) trend {
	t := trend{gap: gap}
	for i, s := range []Series{before, after} {
		t.n[i], t.level[i], t.slope[i] = float64(len(s)), s.Mean(), s.slope()
		t.variance[i] = max(s.variance([]float64{blockBefore, blockAfter}[i]), leastVariance)
	}
	// Less of the same varies less. Where it seems to vary even less, it was not seen for long.
	share := t.level[1] / t.level[0]
	t.variance[1] = max(t.variance[1], t.variance[0]*share*share)
	return t
}

// logs is the trend of the levels' logarithms: one that falls by the same share each second.
func (t trend) logs() trend {
	for i, level := range t.level {
		t.level[i] = math.Log(level)
		t.slope[i] /= level
		t.variance[i] /= level * level
	}
	return t
}

// slope is that of a line through the seconds.
func (s Series) slope() (slope float64) {
	mid, mean := float64(len(s)-1)/2, s.Mean()
	for i, v := range s {
		slope += (float64(i) - mid) * (v - mean)
	}
	return slope / squares(float64(len(s)))
}

// squares is the sum of the squares of n seconds around their middle.
func squares(n float64) float64 { return max(n*(n*n-1)/12, 1) }

// surely is how many standard errors a step has at least.
const surely = 1.5

// helped reports whether there is less by a step, and not by a trend, steady or fading.
func (t trend) helped() bool { return t.steps() && t.logs().steps() }

func (t trend) steps() bool {
	w0, w1 := squares(t.n[0])/t.variance[0], squares(t.n[1])/t.variance[1]
	slope := (t.slope[0]*w0 + t.slope[1]*w1) / (w0 + w1)
	// Where the two slopes differ by more than their doubt, neither is known as well as it
	// seems (Birge 1932): the level wanders.
	differ := t.slope[0] - t.slope[1]
	wanders := max(1, differ*differ/(1/w0+1/w1))
	return t.level[1]-t.level[0]-slope*t.apart() < -surely*t.doubt(wanders)
}

// apart is the time from the middle of the one to that of the other.
func (t trend) apart() float64 { return t.gap + (t.n[0]+t.n[1])/2 }

// doubt is the standard error of the step.
func (t trend) doubt(wanders float64) float64 {
	w0, w1 := squares(t.n[0])/t.variance[0], squares(t.n[1])/t.variance[1]
	return math.Sqrt(t.variance[0]/t.n[0] + t.variance[1]/t.n[1] + wanders*t.apart()*t.apart()/(w0+w1))
}

// need is how long to measure until a step of that size tells; 0: not within an hour.
func (t trend) need() float64 {
	tells := func(t trend) bool { return t.level[0]-t.level[1] > 1.25*surely*t.doubt(1) }
	for need := max(2*t.n[1], leastAfter); need <= 3600; need *= 1.25 {
		t.n[1] = need
		if tells(t) && tells(t.logs()) {
			return math.Ceil(need)
		}
	}
	return 0
}

// sinking reports whether the harm was becoming less already before the change, so that
// by the time of the recording after it would be at most that much: a line through its
// seconds, with the doubt of as many of them as are independent.
func (s Series) sinking(gap float64, after int, left float64) bool {
	n := float64(len(s))
	if n < 8 {
		return false
	}
	mid, mean, slope := (n-1)/2, s.Mean(), s.slope()
	rest := make(Series, len(s))
	square := 0.0
	for i, v := range s {
		rest[i] = v - mean - slope*(float64(i)-mid)
		square += rest[i] * rest[i]
	}
	memory, surely := rest.memory(), 2.5 // standard errors
	if memory > n/3 {
		// What is left of a bend remembers itself; the error is not known well.
		memory, surely = n/3, 3.5
	}
	doubt := math.Sqrt(square / (n - 2) / squares(n) * memory)
	then := mean + slope*(mid+gap+float64(after)/2)
	return slope < -surely*doubt && then <= left
}

package shape

import "math"

// Knee is where more requests no longer bring more answers.
type Knee struct {
	Most float64 // answers/s at most
	Base float64 // s: a request's time while nothing queues
	// Workers is how many requests the service works on at a time: Most × Base, by Little's law.
	Workers float64
	// ByConns: all connections were waiting, with as many requests on each as it carries, so that their number is the
	// limit as far as can be seen.
	ByConns bool
	Soft    float64 // how sharp the knee is: 1 very soft, 10 and more a corner
	At      At      // the first rate beyond it
}

// NoWork reports whether what holds the answers up is no work: fewer than one request at a time would
// keep the service idle, and each takes far longer than it does with fewer requests.
func (k Knee) NoWork() bool {
	return k.LessThanOne() && k.At.P50 > leastRatio*k.Base && k.At.P50-k.Base > leastHump
}

// LessThanOne reports whether the answers keep fewer than one worker busy: the limit is not work.
func (k Knee) LessThanOne() bool { return k.Workers < lessThanOne }

const (
	lessThanOne = 0.6
	// leastShort is the share of the requests that the answers fall short by at a knee.
	leastShort = 0.05
	byConns    = 0.85
)

// FindKnee looks for it on one number of connections. The rate that the service keeps up with and the
// rate of its answers are joined by a soft minimum.
func FindKnee(all []At) (k Knee, found bool) {
	var low []float64
	for _, a := range all {
		if a.P50 == 0 {
			continue
		}
		if a.Answers >= (1-leastShort)*a.Rate {
			low = append(low, a.Mean)
			continue
		}
		if !found {
			k.At, found = a, a.Why == "" && a.Repeats >= leastSolid
		}
	}
	if !found || len(low) == 0 {
		return k, false
	}
	k.Base = low[0]
	for _, m := range low {
		k.Base = min(k.Base, m)
	}
	k.Most, k.Soft = softest(all)
	k.Workers = k.Most * k.Base
	k.ByConns = k.Workers > byConns*float64(all[0].Conns*max(1, k.At.Streams))
	return k, true
}

// softMin is a minimum whose corner is rounded, the more the smaller p is.
func softMin(a, b, p float64) float64 {
	return math.Pow(math.Pow(a, -p)+math.Pow(b, -p), -1/p)
}

// softest fits answers = softMin(rate, most) by least squares of the logarithms, on a grid that gets
// finer: two parameters need no more.
func softest(all []At) (most, p float64) {
	top := 0.0
	for _, a := range all {
		top = max(top, a.Answers)
	}
	most, p = top, 8
	wide, deep := 0.3, 0.9
	for range 6 {
		best, bestMost, bestP := math.Inf(1), most, p
		for i := -10; i <= 10; i++ {
			for j := -10; j <= 10; j++ {
				m, q := most*math.Exp(wide*float64(i)/10), p*math.Exp(deep*float64(j)/10)
				if q < 1 || q > 64 {
					continue
				}
				sum := 0.0
				for _, a := range all {
					if a.Answers > 0 && a.Rate > 0 {
						d := math.Log(a.Answers / softMin(a.Rate, m, q))
						sum += d * d
					}
				}
				if sum < best {
					best, bestMost, bestP = sum, m, q
				}
			}
		}
		most, p = bestMost, bestP
		wide, deep = wide/4, deep/4
	}
	return most, p
}

// Falls reports whether the answers get fewer as the requests get more, and from which rate on.
func Falls(all []At) (peak, after At, falls bool) {
	for _, a := range all {
		if a.Answers > peak.Answers {
			peak = a
		}
	}
	for _, a := range all {
		if a.Rate > peak.Rate && a.Why == "" && a.Answers < 0.9*peak.Answers && (after.Rate == 0 || a.Answers < after.Answers) {
			after, falls = a, true
		}
	}
	return peak, after, falls
}

// USL is the Universal Scalability Law (N. Gunther, "Guerrilla Capacity Planning", 2007):
// X(N) = Single·N / (1 + Contention·(N−1) + Crosstalk·N·(N−1)), of N requests that are open.
type USL struct{ Single, Contention, Crosstalk float64 }

// Best is how many open requests bring the most answers.
func (u USL) Best() float64 { return math.Sqrt((1 - u.Contention) / u.Crosstalk) }

// FitUSL fits it where there are enough points: N/X is a parabola of N−1.
func FitUSL(all []At) (u USL, ok bool) {
	// N/X = (1/λ)(1 + σ(N−1) + κN(N−1)) = c0 + c1·x + c2·x², x = N−1: c0 = 1/λ, c1 = (σ+κ)/λ, c2 = κ/λ.
	var s [5]float64
	var y [3]float64
	n := 0
	for _, a := range all {
		if a.Answers <= 0 || a.Open < 1 {
			continue
		}
		n++
		x, v := a.Open-1, a.Open/a.Answers
		for i := range s {
			s[i] += math.Pow(x, float64(i))
		}
		for i := range y {
			y[i] += v * math.Pow(x, float64(i))
		}
	}
	if n < 4 {
		return u, false
	}
	c, ok := solve3([3][4]float64{{s[0], s[1], s[2], y[0]}, {s[1], s[2], s[3], y[1]}, {s[2], s[3], s[4], y[2]}})
	if !ok || c[0] <= 0 || c[2] <= 0 {
		return u, false
	}
	u = USL{Single: 1 / c[0], Crosstalk: c[2] / c[0]}
	u.Contention = c[1]/c[0] - u.Crosstalk
	return u, u.Contention < 1
}

// solve3 is Gauss' elimination with pivots.
func solve3(m [3][4]float64) (out [3]float64, ok bool) {
	for i := range 3 {
		at := i
		for j := i + 1; j < 3; j++ {
			if math.Abs(m[j][i]) > math.Abs(m[at][i]) {
				at = j
			}
		}
		if m[i], m[at] = m[at], m[i]; math.Abs(m[i][i]) < 1e-300 {
			return out, false
		}
		for j := range 3 {
			if j == i {
				continue
			}
			f := m[j][i] / m[i][i]
			for k := i; k < 4; k++ {
				m[j][k] -= f * m[i][k]
			}
		}
	}
	for i := range 3 {
		out[i] = m[i][3] / m[i][i]
	}
	return out, true
}

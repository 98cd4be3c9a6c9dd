package ablate

import (
	"math"

	"snag/internal/distribution"
)

// Interval is an effect with its doubt, as a ratio: 0.67 is "with it the figure is
// better by two thirds of what it is without" (where it is none that is always above 0:
// of its level).
type Interval struct {
	Effect float64 `json:"effect"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// Outcome is what an interval tells.
type Outcome string

// The outcomes of one comparison.
const (
	Open    Outcome = ""           // it does not tell yet
	Helps   Outcome = "helps"      // all of it beyond the smallest effect
	Hurts   Outcome = "hurts"      // the same to the other side
	Nothing Outcome = "nothing"    // all of it within the smallest effect
	Acts    Outcome = "acts"       // of a group: not 0, and by how much its parts tell
	Unclear Outcome = "can't tell" // it never told
)

// estimate is the mean of differences with its t interval at an error of alpha. Two
// more differences of one grain, up and down, stand for what was not seen yet (as
// Agresti and Caffo 2000 add successes and failures).
func estimate(diffs []float64, grain, alpha float64) Interval {
	n := float64(len(diffs))
	mean := 0.0
	for _, d := range diffs {
		mean += d / n
	}
	squares := 0.0
	for _, d := range diffs {
		squares += (d - mean) * (d - mean)
	}
	if grain > 0 {
		n += 2
		squares += 2 * grain * grain
	}
	if n < 2 || alpha <= 0 {
		return Interval{mean, math.Inf(-1), math.Inf(1)}
	}
	se := math.Sqrt(squares / (n - 1) / n)
	half := 0.0
	if se > 0 {
		half = se * distribution.StudentsT(1-alpha/2, n-1)
	}
	return Interval{mean, mean - half, mean + half}
}

// over is the interval as a ratio of a level.
func (i Interval) over(level float64) Interval {
	return Interval{i.Effect / level, i.Low / level, i.High / level}
}

func (i Interval) outcome(smallest float64) Outcome {
	switch {
	case i.Low > smallest:
		return Helps
	case i.High < -smallest:
		return Hurts
	case i.Low >= -smallest && i.High <= smallest:
		return Nothing
	}
	return Open
}

// fewest rounds that anything is told from.
const fewest = 4

// looks are the rounds after which a comparison is looked at: the last is the most.
func looks(rounds int) (all []int) {
	for n := fewest; n < rounds; n = max(n+1, n*7/5) {
		all = append(all, n)
	}
	return append(all, rounds)
}

// due reports whether a comparison with n rounds is looked at now.
func due(n, rounds int) bool {
	for _, l := range looks(rounds) {
		if l == n {
			return true
		}
	}
	return false
}

// spend is the share of the error that may be spent by round n.
func spend(n, rounds int) float64 {
	r := min(float64(n)/float64(rounds), 1)
	return r * r
}

// more is how many rounds in all an interval would need to tell; 0 where none would:
// the effect is about the smallest one of interest.
func more(i Interval, n int, smallest float64) int {
	half, e := (i.High-i.Low)/2, math.Abs(i.Effect)
	room := math.Abs(smallest - e)
	if room < smallest/10 || math.IsInf(half, 0) {
		return 0
	}
	return int(math.Ceil(float64(n) * half * half / room / room))
}

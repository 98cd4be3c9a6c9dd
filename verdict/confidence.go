package verdict

import (
	"math"

	"snag/recording"
	"snag/suspects"
)

// confidence is a number from 0 to 1, not yet calibrated on the lab's score: the
// constants only order verdicts. It rises with independent evidence and falls
// with what stands against, with doubts, and with what the probes that matter
// lost or did not see.
func confidence(e []suspects.Evidence, s *suspects.Suspect, r *recording.Recording) float64 {
	odds := -1.0
	odds += 3.5 * math.Min(1, float64(count(e, suspects.For, suspects.Decisive)))
	odds += 0.7 * math.Max(0, float64(count(e, suspects.For, suspects.Decisive))-1)
	odds += 1.3 * float64(count(e, suspects.For, suspects.Strong))
	odds += 0.2 * math.Min(3, float64(count(e, suspects.For, suspects.Weak)))
	odds -= 3.5 * math.Min(1, float64(count(e, suspects.Against, suspects.Decisive)))
	odds -= 1.3 * float64(count(e, suspects.Against, suspects.Strong))
	odds -= 0.3 * math.Min(3, float64(count(e, suspects.Against, suspects.Weak)))
	for _, piece := range e {
		if piece.Doubt != "" {
			odds -= 0.3
		}
		if piece.Side == suspects.Missing {
			odds -= 0.2
		}
	}
	for _, n := range s.Needs {
		c, seen := r.Measured(n.Measure)
		switch {
		case !seen:
			odds -= 0.3
		case c.Lost > 0 || c.Late > lateDoubt:
			odds -= 0.4
		}
	}
	return math.Round(100/(1+math.Exp(-odds))) / 100
}

// A probe this late (seconds) has missed a whole one-second tick.
const lateDoubt = 1.0

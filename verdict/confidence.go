package verdict

import (
	"math"

	"snag/recording"
	"snag/suspects/suspect"
)

// Signs are what a confidence is made of: how much of each kind of evidence a
// finding has. Few, since they are fitted on some hundred runs.
type Signs struct {
	Proved   bool    // the grades confirm it: one decisive piece, or two strong ones
	Decisive bool    // a decisive piece speaks for it
	Support  float64 // further independent pieces for it that are decisive or strong, at most 3
	Against  float64 // independent pieces against it: strong 1, decisive 3, weak 0.25; at most 3
	Doubt    float64 // doubts, what is missing, what its probes lost or did not see; at most 3
}

// SignNames are the names of Signs.Terms, in their order.
var SignNames = []string{"always", "proved", "decisive", "support", "against", "doubt"}

// Terms are the numbers that the weights are for.
func (s Signs) Terms() []float64 {
	return []float64{1, oneIf(s.Proved), oneIf(s.Decisive), s.Support, s.Against, s.Doubt}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// SignsOf reads the signs of a finding's evidence.
func SignsOf(e []suspect.Evidence, s *suspect.Suspect, r *recording.Recording) Signs {
	n := func(side suspect.Side, grade suspect.Grade) float64 { return float64(count(e, side, grade)) }
	out := Signs{Proved: prove(e) == confirmed, Decisive: n(suspect.For, suspect.Decisive) > 0}
	out.Support = math.Max(0, n(suspect.For, suspect.Decisive)-1) + n(suspect.For, suspect.Strong)
	out.Against = 3*n(suspect.Against, suspect.Decisive) + n(suspect.Against, suspect.Strong) + n(suspect.Against, suspect.Weak)/4
	for _, piece := range e {
		if piece.Doubt != "" {
			out.Doubt++
		}
		if piece.Side == suspect.Missing {
			out.Doubt++
		}
	}
	for _, need := range s.Needs {
		if c, seen := r.Measured(need.Measure); seen && (c.Lost > 0 || c.Late > lateDoubt) {
			out.Doubt++
		}
	}
	out.Support, out.Against, out.Doubt = math.Min(3, out.Support), math.Min(3, out.Against), math.Min(3, out.Doubt)
	return out
}

// A probe this late (seconds) has missed a whole one-second tick.
const lateDoubt = 1.0

// confidence is the probability, from 0 to 1, that an accusation on this evidence
// is right: weights.go has what was fitted on the lab's runs, and docs/score.md
// how well it holds.
func confidence(e []suspect.Evidence, s *suspect.Suspect, r *recording.Recording) float64 {
	return math.Round(100*Probability(SignsOf(e, s, r).Terms(), weights[:])) / 100
}

// Probability is the logistic function of the weighted terms. No lab's runs tell
// 0.99 from certainty.
func Probability(terms, weights []float64) float64 {
	odds := 0.0
	for i, t := range terms {
		odds += weights[i] * t
	}
	return math.Min(0.99, math.Max(0.01, 1/(1+math.Exp(-odds))))
}

// Prior are the weights before any run was seen: a decisive piece alone is right
// nine times in ten, so are two strong ones, and one strong piece that nothing
// confirms three times in ten. A fit is held to them where the runs say little.
var Prior = []float64{-1.5, 2, 1.7, 0.7, -1.3, -0.3}

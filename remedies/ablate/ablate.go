// Package ablate finds out which of many settings do something, by turning them off
// and on under a load and measuring: with statistics that hold on a shared, noisy
// machine that drifts. It is pure: what a run measures comes in as a function.
//
// A study goes in rounds. A round has, in random order, runs with all settings on,
// runs with all off, and one run for each open comparison; each comparison takes the
// difference of its run to the base runs of its own round, so that what drifts slowly
// cancels out.
//
//  1. All on against all off; and each setting left out of all on (leave-one-out). Of
//     many settings random groups are left out first; only a group that does something
//     is split.
//  2. Settings that can stand in for each other show nothing when one is left out. If
//     the single effects do not explain what all do together, the others are turned on
//     one by one with all else off, in groups as well.
//  3. Those that do it alone and are not missed are left out in pairs: "either of".
//
// A comparison ends once its interval tells, or after Options.Rounds rounds. Intervals
// are t intervals (Student 1908), corrected for the number of settings (Bonferroni)
// and for looking several times: each look spends its share of the error, little at
// first (a power family of spending functions: Kim and DeMets 1987).
package ablate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Options are what a study is made with.
type Options struct {
	Settings int  // how many
	Higher   bool // a higher figure is better
	// Ratio: the figure is a size, always above 0 (a time, a rate), and noise comes in
	// proportion to it: effects are ratios of it with and without. A run whose figure is
	// 0 has failed. Else effects are differences, shown as a share of the figure's level.
	Ratio bool
	// Grain is the figure's smallest step, in its own unit, where it has one (1 of a
	// run that fails or does not, a count's one by the time): some runs without a
	// single event are no proof that there will be none. 0: it is continuous.
	Grain float64
	// Smallest is the smallest effect of interest, as a ratio; 0 is 0.05.
	Smallest float64
	// Confidence that all intervals of the study hold together; 0 is 0.95.
	Confidence float64
	// Rounds is the most that a comparison is measured; 0 is 30.
	Rounds int
	Rand   *rand.Rand
	// Tell is told after each round.
	Tell func(Progress)
}

// Progress is how far a study is.
type Progress struct {
	Round, Runs int
	Open        int // comparisons without an answer yet
	Settled     int // settings that have one
}

// Measure makes one run with the settings of on switched on, all others off, and gives
// the figure. An error that is ErrFailed says that the load itself failed: that is an
// answer too. Any other ends the study.
type Measure func(ctx context.Context, on []bool) (float64, error)

// ErrFailed is of a run whose load failed, so that it has no figure.
var ErrFailed = errors.New("the load failed")

func (o Options) filled() Options {
	if o.Smallest == 0 {
		o.Smallest = 0.05
	}
	if o.Confidence == 0 {
		o.Confidence = 0.95
	}
	if o.Rounds == 0 {
		o.Rounds = 30
	}
	o.Rounds = max(o.Rounds, fewest)
	if o.Rand == nil {
		o.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	return o
}

// Run makes the study. When ctx ends, it ends with what it has; Result.Cut says so.
func Run(ctx context.Context, o Options, measure Measure) (*Result, error) {
	if o.Settings < 1 {
		return nil, errors.New("there is no setting to test")
	}
	s := newStudy(o.filled())
	for s.next() {
		if ctx.Err() != nil {
			s.cut = true
			break
		}
		err := s.round(ctx, measure)
		if ctx.Err() != nil {
			s.cut = true // the round is not whole: nothing of it counts
			break
		}
		if err != nil {
			return s.result(), err
		}
		s.look()
		if o.Tell != nil {
			o.Tell(s.progress())
		}
	}
	return s.result(), nil
}

// round makes one run of each open comparison and of its bases, in random order, and
// adds the differences. A round that breaks off adds nothing.
func (s *study) round(ctx context.Context, measure Measure) error {
	type run struct {
		c    *contrast // nil: a base run
		base base
		y    float64
	}
	var runs []run
	for b, n := range s.baseRuns() {
		for range n {
			runs = append(runs, run{base: base(b)})
		}
	}
	for _, c := range s.open {
		if !c.whole {
			runs = append(runs, run{c: c, base: c.base})
		}
	}
	s.o.Rand.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	var failure error
	failed := 0
	for i := range runs {
		r := &runs[i]
		var err error
		r.y, err = measure(ctx, s.config(r.c, r.base))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ErrFailed):
			r.y, failure = math.NaN(), err
			failed++
		case err != nil:
			return err
		case s.o.Ratio && r.y <= 0:
			r.y, failure = math.NaN(), fmt.Errorf("%w: a run measured %v", ErrFailed, r.y)
			failed++
		case math.IsNaN(r.y) || math.IsInf(r.y, 0):
			return fmt.Errorf("a run measured %v: that is not a figure", r.y)
		}
	}
	if failed == len(runs) {
		return fmt.Errorf("every run of a round failed, with all settings on and off: %w", failure)
	}
	var bases [2][]float64
	for _, r := range runs {
		if r.c == nil {
			bases[r.base] = append(bases[r.base], r.y)
		}
	}
	for b, ys := range bases {
		s.bases[b] = append(s.bases[b], ys...)
	}
	for _, r := range runs {
		if r.c != nil {
			r.c.add(s.o, bases[r.base], []float64{r.y})
		}
	}
	for _, c := range s.open {
		if c.whole {
			c.add(s.o, bases[allOn], bases[allOff])
		}
	}
	s.rounds++
	s.runs += len(runs)
	return nil
}

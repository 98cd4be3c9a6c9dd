package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"snag/internal/units"
)

// Search is what FindLimit varies, and between what.
type Search struct {
	Plan  Plan
	Bound Bound
	// From and To are the lowest and the highest that is tried: requests/s, or with Every sessions.
	From, To float64
	// Every is the time in which each session sends one message: the number of sessions is varied, each of which is a
	// connection. 0: the rate is varied.
	Every time.Duration
}

// plan is that of one run.
func (s Search) plan(at float64) Plan {
	p := s.Plan
	p.Rate = at
	if s.Every > 0 {
		p.Conns, p.Rate = int(at), at/s.Every.Seconds()
	}
	return p
}

// Shown is one place of the search in words.
func (s Search) Shown(at float64) string {
	if s.Every > 0 {
		return units.Plural(int(at), "session")
	}
	return units.Count(at) + " requests/s"
}

func (s Search) middle(holds, breaks float64) float64 {
	if s.Every > 0 {
		return math.Round((holds + breaks) / 2)
	}
	return rounded((holds + breaks) / 2)
}

// Limit is the highest rate, or number of sessions, at which a bound holds: between two.
type Limit struct {
	Search
	Holds     float64 // at each of its runs; 0: at none
	Breaks    float64 // at most of its runs; 0: at none
	AtHolds   *Result // the last run there
	AtBreaks  *Result
	Runs      int
	NotOurs   string  // why the search ended before the service's limit; "": it did not
	Ended     string  // why it ended before it was done: it was interrupted, or a run failed; "": it did not
	Saturated float64 // the most answers/s of a run
}

const (
	nearEnough = 1.06 // between the two
	mostRuns   = 60
)

// FindLimit doubles until the bound breaks, and then halves the distance. Each place runs twice, and a third time where
// the two differ. What was found is returned also if it was interrupted, or a run failed; it is an error only if not
// one run was over.
func FindLimit(ctx context.Context, s Search, each func(at float64, holds bool, r *Result)) (l Limit, err error) {
	l.Search = s
	at := s.From
	for l.Runs < mostRuns {
		err := l.try(ctx, at, each)
		switch {
		case l.Runs == 0 && ctx.Err() != nil:
			return l, errors.New("interrupted before the first run was over: nothing was measured")
		case l.Runs == 0:
			return l, err
		case ctx.Err() != nil:
			l.Ended = interrupted
		case err != nil:
			l.Ended = fmt.Sprintf("at %s: %v", s.Shown(at), err)
		}
		next, more := l.next(at)
		if !more || l.Ended != "" || l.NotOurs != "" {
			return l, nil
		}
		at = next
	}
	return l, nil
}

// try runs one place until it is known whether the bound holds there, and notes that.
func (l *Limit) try(ctx context.Context, at float64, each func(at float64, holds bool, r *Result)) error {
	yes, no := 0, 0
	var last [2]*Result // that broke, that held
	for yes < 2 && no < 2 {
		r, err := Run(ctx, l.plan(at))
		if err != nil || ctx.Err() != nil {
			return err
		}
		l.Runs++
		l.Saturated = max(l.Saturated, r.Rate())
		ok := l.Bound.Holds(r)
		each(at, ok, r)
		switch {
		case ok:
			yes++
			last[1] = r
		case r.Honest() != "" && !r.Overloaded():
			l.NotOurs = r.Honest()
			return nil
		default:
			no++
			last[0] = r
		}
	}
	if yes == 2 {
		l.Holds, l.AtHolds = at, last[1]
	} else {
		l.Breaks, l.AtBreaks = at, last[0]
	}
	return nil
}

// next is where the search goes on after a place. more: it does.
func (l *Limit) next(at float64) (next float64, more bool) {
	switch {
	case l.Breaks == 0 && at >= l.To, l.Breaks > 0 && l.Holds == 0 && at <= l.From:
		return at, false
	case l.Breaks == 0:
		next = min(2*at, l.To)
	case l.Breaks/l.Holds <= nearEnough:
		return at, false
	default:
		next = l.middle(l.Holds, l.Breaks)
	}
	return next, next != l.Holds && next != l.Breaks
}

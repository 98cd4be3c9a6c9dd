package load

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Bound is what has to hold, such as p99 < 100ms, of the times since each request was due.
type Bound struct {
	Quantile float64 // percent; 0: the mean
	Below    time.Duration
	text     string
}

var boundOf = regexp.MustCompile(`^\s*(mean|p[0-9]+(?:\.[0-9]+)?)\s*<\s*(\S+)\s*$`)

// ParseBound reads p50, p99, p99.9 or mean, then < and a time.
func ParseBound(text string) (b Bound, err error) {
	m := boundOf.FindStringSubmatch(text)
	if m == nil {
		return b, fmt.Errorf("%q is not a bound: give one such as 'p99 < 100ms'", text)
	}
	if m[1] != "mean" {
		b.Quantile, err = strconv.ParseFloat(m[1][1:], 64)
		if b.Quantile > 100 && !strings.Contains(m[1], ".") { // p999 is p99.9
			b.Quantile /= 10
		}
		if err != nil || b.Quantile <= 0 || b.Quantile > 100 {
			return b, fmt.Errorf("%q is not a quantile: p50, p99 or p99.9", m[1])
		}
	}
	if b.Below, err = time.ParseDuration(m[2]); err != nil || b.Below <= 0 {
		return b, fmt.Errorf("%q is not a time: give one such as 100ms", m[2])
	}
	b.text = m[1] + " < " + m[2]
	return b, nil
}

func (b Bound) String() string { return b.text }

// mostLost is the share of requests without a good answer up to which a bound can hold.
const mostLost = 0.01

// Holds reports whether a run held the bound. Requests that were never sent or got no good answer count as
// later than it.
func (b Bound) Holds(r *Result) bool {
	bad := r.LostAll() + r.Failed + r.Behind
	all := r.Sent + r.Behind
	if all == 0 || r.Done == 0 || float64(bad) > mostLost*float64(all) {
		return false
	}
	if b.Quantile == 0 {
		return r.FromDue.Mean() < float64(b.Below)
	}
	// The quantile of all, of which bad ones are the latest.
	within := b.Quantile / 100 * float64(all) / float64(r.Done-r.Failed) * 100
	return within <= 100 && time.Duration(r.FromDue.ValueAtQuantile(within)) < b.Below
}

// Limit is the highest rate at which a bound holds: between two rates.
type Limit struct {
	Bound     Bound
	Holds     float64 // requests/s: at each of its runs; 0: at none
	Breaks    float64 // at most of its runs; 0: at none
	AtHolds   *Result // the last run there
	AtBreaks  *Result
	Runs      int
	NotOurs   string // why the search ended before the service's limit; "": it did not
	Saturated float64
}

const (
	nearEnough = 1.06 // between the two rates
	mostRuns   = 60
)

// FindLimit doubles the rate until the bound breaks, and then halves the distance. Each rate runs twice,
// and a third time where the two differ.
func FindLimit(ctx context.Context, p Plan, b Bound, from, to float64, each func(rate float64, holds bool, r *Result)) (l Limit, err error) {
	l.Bound = b
	try := func(rate float64) (holds bool, err error) {
		yes, no := 0, 0
		for yes < 2 && no < 2 {
			p.Rate = rate
			r, err := Run(ctx, p)
			if err != nil || ctx.Err() != nil {
				return false, err
			}
			l.Runs++
			l.Saturated = max(l.Saturated, r.Rate())
			ok := b.Holds(r)
			each(rate, ok, r)
			switch {
			case ok:
				yes++
				l.AtHolds = r
			case r.Honest() != "" && !r.Overloaded():
				l.NotOurs = r.Honest()
				return false, nil
			default:
				no++
				l.AtBreaks = r
			}
		}
		return yes == 2, nil
	}
	rate := from
	for l.Runs < mostRuns && ctx.Err() == nil && l.NotOurs == "" {
		holds, err := try(rate)
		if err != nil || ctx.Err() != nil || l.NotOurs != "" {
			return l, err
		}
		if holds {
			l.Holds = rate
		} else {
			l.Breaks = rate
		}
		switch {
		case l.Breaks == 0 && rate >= to, l.Breaks > 0 && l.Holds == 0 && rate <= from:
			return l, nil
		case l.Breaks == 0:
			rate = min(2*rate, to)
		case l.Breaks/l.Holds <= nearEnough:
			return l, nil
		default:
			rate = rounded((l.Breaks + l.Holds) / 2)
		}
		if rate == l.Holds || rate == l.Breaks {
			return l, nil
		}
	}
	return l, nil
}

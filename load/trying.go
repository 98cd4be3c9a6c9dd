package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"snag/internal/units"
	"snag/load/shape"
)

// pairs is how often an experiment is repeated.
const pairs = 3

// change is one thing that an experiment does otherwise.
type change struct {
	name string
	set  func(p *Plan)
	says string // where it frees
}

func changesOf(p Plan) (out []change) {
	yes := true
	if p.Target.Network != "tcp" {
		return nil
	}
	if p.Options.NoDelay != nil && !*p.Options.NoDelay {
		out = append(out, change{"TCP_NODELAY", func(p *Plan) { p.Options.NoDelay = &yes },
			"Nagle's algorithm delays the client's own writes until the service's delayed acknowledgement (nagle-delayed-ack). Set TCP_NODELAY in the client, or send a request in one write."})
	}
	if p.Options.QuickAck == nil || !*p.Options.QuickAck {
		out = append(out, change{"TCP_QUICKACK", func(p *Plan) { p.Options.QuickAck = &yes },
			"The service sends an answer in more than one write, and Nagle's algorithm delays the later one until this side's delayed acknowledgement (nagle-delayed-ack). Set TCP_NODELAY in the service, or write an answer at once."})
	}
	return out
}

// leastOfAck is the share of the delay of an acknowledgement from which on an answer may have waited for one: the
// first write is on its way meanwhile.
const leastOfAck = 0.8

// errInterrupted is of an experiment that was not run to its end.
var errInterrupted = errors.New(interrupted)

// point runs a plan as a part of an experiment.
func point(ctx context.Context, p Plan) (shape.Point, error) {
	if ctx.Err() != nil {
		return shape.Point{}, errInterrupted
	}
	out, err := Run(ctx, p)
	switch {
	case ctx.Err() != nil:
		return shape.Point{}, errInterrupted
	case err != nil:
		return shape.Point{}, err
	}
	return PointOf(out), nil
}

// try asks at a rate in turn as before, and with one thing changed. It reports whether all changes were tried, or
// one freed the requests.
func (r *reader) try(ctx context.Context, slow shape.At) (tried bool) {
	for _, c := range changesOf(r.sweep.Plan) {
		all, err := r.inTurn(ctx, c, slow)
		if err != nil {
			r.found("Whether %s changes it is not known: the experiment at %s requests/s was not run to its end (%v).", c.name, units.Count(slow.Rate), err)
			return false
		}
		if shape.Frees(all) {
			last := all[len(all)-1]
			r.Freed = c.name
			r.found("At %s requests/s half of the answers come within %s; with %s on this side within %s.", units.Count(slow.Rate), units.Short(last.As.P50), c.name, units.Short(last.Changed.P50))
			r.found("%s", c.says)
			return true
		}
	}
	return true
}

func (r *reader) inTurn(ctx context.Context, c change, slow shape.At) (all []shape.Pair, err error) {
	if ctx.Err() != nil {
		return nil, errInterrupted
	}
	r.say(fmt.Sprintf("with and without %s at %s requests/s", c.name, units.Count(slow.Rate)))
	for range pairs {
		p := r.sweep.Plan
		p.Rate, p.Conns, p.For = slow.Rate, slow.Conns, r.sweep.lasts(slow.Rate)
		r.sweep.resize(&p, slow.Size)
		as, err := point(ctx, p)
		if err != nil {
			return nil, err
		}
		c.set(&p)
		changed, err := point(ctx, p)
		if err != nil {
			return nil, err
		}
		all = append(all, shape.Pair{As: as, Changed: changed})
	}
	return all, nil
}

// afterOverload compares half of the most that the service can do before and directly after more than it
// can.
func (r *reader) afterOverload(ctx context.Context, k shape.Knee, conns int) {
	rested, after, err := r.aroundOverload(ctx, k, conns)
	if err != nil {
		r.found("Whether it stays slow after too many requests is not known: the experiment was not run to its end (%v).", err)
		return
	}
	if h, found := shape.FindHysteresis(rested, after); found {
		r.Hysteresis = &h
		r.found("After too many requests it stays slow: half within %s at %s/s, where it was %s before.", units.Short(h.After), units.Count(k.Most/2), units.Short(h.Rested))
	}
}

func (r *reader) aroundOverload(ctx context.Context, k shape.Knee, conns int) (rested, after []shape.Point, err error) {
	if ctx.Err() != nil {
		return nil, nil, errInterrupted
	}
	r.say("half of that directly after too many")
	p := r.sweep.Plan
	p.Conns, p.For, p.Warm = conns, max(r.sweep.Plan.For/2, time.Second), 0
	// The steps before may have been too many as well: the service has a rest first.
	if p.Rate = k.Most / 2; p.Rate > 0 {
		if _, err := point(ctx, p); err != nil {
			return nil, nil, err
		}
	}
	for range pairs {
		var three [3]shape.Point
		for i, rate := range []float64{k.Most / 2, k.At.Rate, k.Most / 2} {
			p.Rate = rate
			if three[i], err = point(ctx, p); err != nil {
				return nil, nil, err
			}
		}
		rested, after = append(rested, three[0]), append(after, three[2])
	}
	return rested, after, nil
}

package trial

import (
	"context"
	"errors"
	"time"

	"snag/load"
	"snag/load/elimination"
)

// null asks in turn for this and for nothing. TCP_NODELAY and TCP_QUICKACK are set for both: what they free
// is not the service's work.
func (t *trial) null(ctx context.Context) error {
	asked := t.low(time.Second)
	asked.Options = noDelays(asked.Options)
	var other *load.Plan
	if nothing, _, err := load.Nothing(t.URL, t.Request); err == nil {
		o := asked
		o.Target = t.atLive(nothing)
		other = &o
	}
	as, of, err := inTurn(ctx, asked, other)
	if err != nil {
		return err
	}
	if as.FromSent.TotalCount() == 0 && t.Target.Network == "udp" {
		return errors.New("no request was answered")
	}
	if as.FromSent.TotalCount() == 0 {
		return errors.New("no request on a kept connection was answered; the service may close each after its answer")
	}
	t.m.Null = &elimination.Null{}
	if of != nil {
		n := askedOf(of)
		t.m.Null.Null = &n
	}
	t.m.Null.Asked = askedOf(as)
	return nil
}

// turns is how often two plans run in turn.
const turns = 2

// inTurn runs one plan, or two in turn, and joins what each measured.
func inTurn(ctx context.Context, a load.Plan, b *load.Plan) (as, other *load.Result, err error) {
	for range turns {
		r, err := load.Run(ctx, a)
		if err != nil {
			return nil, nil, err
		}
		as = joined(as, r)
		if b == nil {
			continue
		}
		if r, err = load.Run(ctx, *b); err != nil {
			return nil, nil, err
		}
		other = joined(other, r)
	}
	return as, other, nil
}

func joined(all, r *load.Result) *load.Result {
	if all == nil {
		return r
	}
	all.FromSent.Merge(r.FromSent)
	all.Lag.Merge(r.Lag)
	all.Done += r.Done
	for k, n := range r.Lost {
		all.Lost[k] += n
	}
	return all
}

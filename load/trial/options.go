package trial

import (
	"context"
	"errors"
	"time"

	"snag/load"
	"snag/load/elimination"
	"snag/load/shape"
)

// options tries TCP_NODELAY and TCP_QUICKACK on this side, where an answer takes long enough for a delayed
// acknowledgement to be in it.
func (t *trial) options(ctx context.Context) error {
	if t.m.Kept == nil || t.m.Kept.N == 0 {
		return errors.New("no request on a kept connection was answered")
	}
	if !t.m.CanHold() {
		return nil
	}
	yes := true
	if !t.m.NoDelay {
		if err := t.option(ctx, "TCP_NODELAY", func(o *load.SocketOptions) { o.NoDelay = &yes }); err != nil {
			return err
		}
	}
	return t.option(ctx, "TCP_QUICKACK", func(o *load.SocketOptions) { o.QuickAck = &yes })
}

// pairs are needed to say that an option frees; one is enough to say that it does not.
const (
	pairs     = 3
	moreTries = 2 // for those whose figures are not the service's
)

func (t *trial) option(ctx context.Context, name string, set func(*load.SocketOptions)) error {
	out := elimination.Option{Name: name}
	rtt := t.m.RoundTrip()
	var all []shape.Pair
	for range pairs + moreTries {
		if len(all) == pairs {
			break
		}
		p := t.low(800 * time.Millisecond)
		as, err := load.Run(ctx, p)
		if err != nil {
			return err
		}
		set(&p.Options)
		changed, err := load.Run(ctx, p)
		if err != nil {
			return err
		}
		a, c := askedOf(as), askedOf(changed)
		if a.Why != "" || c.Why != "" || a.N == 0 || c.N == 0 {
			out.Why = a.Why + c.Why
			continue
		}
		out.Why = ""
		out.Pairs = append(out.Pairs, [2]float64{a.P50, c.P50})
		// The round trip stays, whatever is set.
		all = append(all, shape.Pair{As: shape.Point{P50: max(a.P50-rtt, 1e-6)}, Changed: shape.Point{P50: max(c.P50-rtt, 1e-6)}})
		if c.P50 > 0.7*a.P50 {
			break
		}
	}
	out.Frees = shape.Frees(all)
	t.m.Options = append(t.m.Options, out)
	return nil
}

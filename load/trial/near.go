package trial

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"snag/load"
	"snag/load/elimination"
)

// own asks an empty server of this process. What it takes since a request was due is all this host's: that
// snag sent late, and that it read the answer late.
func (t *trial) own(ctx context.Context) error {
	p := t.plan(ownRate, ownConns, 0)
	p.Options = noDelays(p.Options)
	for range ownTries {
		r, err := load.Calibrate(ctx, p)
		if err != nil {
			return err
		}
		lag := timesIn(r.Lag)
		o := elimination.Own{Times: timesIn(r.FromDue), LagP50: lag.P50, LagP90: lag.P90}
		if t.m.Own == nil || o.P50 < t.m.Own.P50 {
			t.m.Own = &o
		}
		if t.m.Own.P50 < smallLag.Seconds() {
			break
		}
	}
	return nil
}

const (
	ownRate  = 200
	ownConns = 4
	// ownTries are made where this host is slow, of which the fastest counts: it may have been busy for a moment.
	ownTries = 3
)

const (
	lookups      = 5
	leastLookups = 3 // also where each takes seconds
	lookupFor    = 8 * time.Second
)

func (t *trial) lookup(ctx context.Context) error {
	out := &elimination.Resolve{}
	t.m.Resolve = out
	if _, err := netip.ParseAddr(t.host); err == nil {
		out.Literal = true
		_, err := t.resolve(ctx)
		return err
	}
	var took []time.Duration
	begun := time.Now()
	for range lookups {
		if len(took)+out.Failed >= leastLookups && time.Since(begun) > lookupFor {
			break
		}
		at := time.Now()
		if _, err := t.resolve(ctx); err != nil {
			out.Failed++
			out.Why = errors.Unwrap(err).Error()
			continue
		}
		took = append(took, time.Since(at))
	}
	out.Times, out.Addresses = timesOf(took), len(t.addresses)
	return nil
}

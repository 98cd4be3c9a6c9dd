package trial

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"snag/load"
	"snag/load/elimination"
)

const (
	mostFresh  = 12
	leastFresh = 3
	freshFor   = 8 * time.Second
	between    = 30 * time.Millisecond // new connections
)

// request asks as clients do: on new connections, each with a lookup of its own, and on kept ones.
func (t *trial) request(ctx context.Context) error {
	if t.Target.Network == "tcp" {
		t.fresh(ctx)
	} else if all, err := t.resolve(ctx); err == nil && len(all) > 0 {
		t.live = all[0] // nothing is to be connected
	}
	r, err := load.Run(ctx, t.low(1500*time.Millisecond))
	if err != nil {
		if t.m.Fresh != nil && t.m.Fresh.Whole.N == 0 {
			return nil // why is among the failures of new connections
		}
		return err
	}
	k := askedOf(r)
	t.m.Kept = &k
	return nil
}

func (t *trial) fresh(ctx context.Context) {
	f := &elimination.Fresh{Failed: map[string]int{}}
	var whole []time.Duration
	by := map[*float64][]time.Duration{}
	begun := time.Now()
	for i := range mostFresh {
		if ctx.Err() != nil || i >= leastFresh && time.Since(begun) > freshFor {
			break
		}
		p, err := t.asClientsDo(ctx, i)
		if err != nil {
			f.Failed[kindOf(p, err)]++
			continue
		}
		whole = append(whole, p.whole())
		for at, d := range map[*float64]time.Duration{&f.Resolve: p.resolve, &f.Connect: p.connect, &f.TLS: p.tls, &f.Login: p.login, &f.Answer: p.answer} {
			by[at] = append(by[at], d)
		}
		pause(ctx, between)
	}
	f.Whole = timesOf(whole)
	for at, all := range by {
		*at = quantile(all, 50)
	}
	t.m.Fresh = f
}

// asClientsDo looks the name up and tries its addresses, beginning with another one each time, as with
// round robin. The time of addresses that fail is part of the connect's.
func (t *trial) asClientsDo(ctx context.Context, i int) (p parts, err error) {
	begun := time.Now()
	all, err := t.resolve(ctx)
	looked := time.Since(begun)
	if err != nil {
		return p, err
	}
	var lost time.Duration
	for n := range all {
		to := all[(i+n)%len(all)]
		begun := time.Now()
		p, err = once(ctx, to, t.Target, t.Options, t.Timeout)
		if p.connect > 0 {
			t.live = to
			break
		}
		lost += time.Since(begun)
	}
	if p.resolve = looked; p.connect > 0 {
		p.connect += lost
	}
	return p, err
}

// mostAddresses of a name are tried.
const mostAddresses = 8

func (t *trial) resolve(ctx context.Context) ([]netip.AddrPort, error) {
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", t.host)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", t.host, err)
	}
	t.addresses = nil
	for _, ip := range ips[:min(len(ips), mostAddresses)] {
		t.addresses = append(t.addresses, netip.AddrPortFrom(ip.Unmap(), t.port))
	}
	return t.addresses, nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// newOnes compares what was measured before.
func (t *trial) newOnes(context.Context) error { return nil }

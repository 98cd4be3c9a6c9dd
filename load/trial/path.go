package trial

import (
	"context"
	"errors"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"snag/load"
	"snag/load/elimination"
)

const (
	// pathRate for pathFor are enough packets to see a loss of one in a hundred.
	pathRate  = 200
	pathConns = 8
	pathFor   = 2 * time.Second
	echoes    = 100
	echoEvery = 10 * time.Millisecond
	// timeoutLeast is less than the shortest retransmission timeout of Linux, 200 ms (TCP_RTO_MIN).
	timeoutLeast = 180 * time.Millisecond
)

// way measures the round trip and the loss, and who is on the way.
func (t *trial) way(ctx context.Context) error {
	if !t.live.IsValid() && len(t.addresses) == 0 {
		return errors.New("no address is known")
	}
	to := t.live
	if !to.IsValid() {
		to = t.addresses[0]
	}
	p := &elimination.Path{}
	var err error
	if p.Echo, err = echo(ctx, to.Addr(), echoes, echoEvery); err != nil {
		t.m.Miss("icmp", err.Error())
	} else if p.Echo.Lost == p.Echo.Sent {
		p.Echo = nil
		t.m.Miss("icmp", "the host answers none")
	}
	if t.live.IsValid() {
		t.requests(ctx, p)
	}
	t.hops(ctx, p)
	t.m.Path = p
	return nil
}

// requests ask on kept connections. Where some of their packets were lost and no ICMP echo was, it asks once
// more, and the better run counts: a path that stood still once loses no packets the second time.
func (t *trial) requests(ctx context.Context, p *elimination.Path) {
	for range 2 {
		r, err := load.Run(ctx, t.plan(min(pathRate, t.HighRate), pathConns, pathFor))
		if err != nil {
			return
		}
		if p.Answers == 0 || r.Wire.Resent < p.Resent {
			t.fill(p, r)
		}
		if p.Resent == 0 || p.Echo != nil && p.Echo.Lost > 0 {
			return
		}
	}
}

func (t *trial) fill(p *elimination.Path, r *load.Result) {
	p.Segments, p.Resent, p.Answers = r.Wire.Segments, r.Wire.Resent, r.Done
	if t.Target.Network == "udp" { // a request without an answer: one of the two was lost
		p.Segments, p.Resent = r.Sent, r.LostAll()
	}
	p.Least = r.Wire.MinRTT.Seconds()
	if r.Done > 0 {
		p.Late = above(r.FromSent, time.Duration(r.FromSent.ValueAtQuantile(50))+timeoutLeast)
	}
}

// above counts the times that are longer.
func above(h *hdrhistogram.Histogram, d time.Duration) (n int64) {
	for _, b := range h.Distribution() {
		if b.From > d.Nanoseconds() {
			n += b.Count
		}
	}
	return n
}

// hops looks for who is on the way, by UDP and by TCP to the port itself, which a filter may treat otherwise.
func (t *trial) hops(ctx context.Context, p *elimination.Path) {
	to := t.live
	if !to.IsValid() {
		to = t.addresses[0]
	}
	var err error
	if p.Hops, err = route(ctx, to, mostHops, false); err != nil {
		t.m.Miss("route", err.Error())
		return
	}
	far := mostHops / 2
	if n := len(p.Hops); n > 0 && p.Hops[n-1].End {
		far = n
	}
	if t.Target.Network == "tcp" {
		if p.ByTCP, err = route(ctx, to, far, true); err != nil {
			t.m.Miss("route by TCP", err.Error())
		}
	}
}

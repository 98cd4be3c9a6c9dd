package load

import (
	"context"
	"fmt"
	"time"

	"snag/internal/units"
	"snag/load/shape"
)

// Reading is what a sweep shows.
type Reading struct {
	Sentences  []string          `json:"sentences"`
	Hump       *shape.Hump       `json:"hump"`
	Freed      string            `json:"freed_by"` // the socket option that takes the hump away; "": none, or not tried
	Cliff      *shape.Cliff      `json:"cliff"`
	Knee       *shape.Knee       `json:"knee"`
	USL        *shape.USL        `json:"usl"`
	Hysteresis *shape.Hysteresis `json:"hysteresis"`
}

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

// Read looks for shapes, and tries by experiments what they come from. say is called before each.
func Read(ctx context.Context, s Sweep, points []shape.Point, say func(string)) (out Reading, err error) {
	all := shape.Join(points)
	if len(s.Targets) > 1 {
		if c, found := shape.FindCliff(all); found {
			out.Cliff = &c
			out.Sentences = append(out.Sentences, cliffText(c))
		}
	}
	for _, group := range shape.Groups(all) {
		on := shape.Of(all, group)
		if h, found := shape.FindHump(on); found && out.Hump == nil {
			out.Hump = &h
			out.Sentences = append(out.Sentences, fmt.Sprintf("slower with few requests than with many: half within %s at %s/s, within %s at %s/s.", units.Short(h.Peak.P50), units.Count(h.Peak.Rate), units.Short(h.Beyond.P50), units.Count(h.Beyond.Rate)))
			if err := out.tryChanges(ctx, s, h.Peak, say); err != nil {
				return out, err
			}
			if out.Freed == "" && len(changesOf(s.Plan)) > 0 {
				out.Sentences = append(out.Sentences, "Neither TCP_NODELAY nor TCP_QUICKACK on this side changes it: it is not Nagle's algorithm as far as this side can see. Measure both ends at the low rate: snag find there.")
			}
		}
	}
	// With one request open on a connection, each may wait for a delayed acknowledgement: then all connections are in
	// use before any is asked so often that it no longer does.
	for _, group := range shape.Groups(all) {
		at, found := shape.FindDelay(shape.Of(all, group), leastOfAck*ackDelay.Seconds())
		if !found || out.Hump != nil || out.Freed != "" {
			continue
		}
		if err := out.tryChanges(ctx, s, at, say); err != nil {
			return out, err
		}
	}
	for _, group := range shape.Groups(all) {
		on, conns := shape.Of(all, group), group.Conns
		k, found := shape.FindKnee(on)
		if !found || out.Knee != nil && !k.ByConns && k.Most <= out.Knee.Most {
			continue
		}
		out.Knee = &k
		if out.Freed != "" { // the limit is that of the delay
			out.Sentences = append(out.Sentences, fmt.Sprintf("With that delay it answers at most %s requests/s.", units.Count(k.Most)))
			continue
		}
		if k.NoWork() {
			out.Sentences = append(out.Sentences, fmt.Sprintf("from %s requests/s on a request takes %s, where it takes %s with fewer. The service is not busy then: what it answers is less than one request at a time (Little's law).", units.Count(k.At.Rate), units.Short(k.At.P50), units.Short(k.Base)))
			if err := out.tryChanges(ctx, s, k.At, say); err != nil {
				return out, err
			}
			continue
		}
		out.Sentences = append(out.Sentences, kneeText(k, conns))
		if peak, after, falls := shape.Falls(on); falls {
			out.Sentences = append(out.Sentences, fmt.Sprintf("More requests bring fewer answers: %s/s of %s asked, %s/s of %s.", units.Count(peak.Answers), units.Count(peak.Rate), units.Count(after.Answers), units.Count(after.Rate)))
			if u, ok := shape.FitUSL(all); ok {
				out.USL = &u
				out.Sentences = append(out.Sentences, fmt.Sprintf("By the Universal Scalability Law most answers come with %.0f requests open.", u.Best()))
			}
		}
		if err := out.afterOverload(ctx, s, k, conns, say); err != nil {
			return out, err
		}
	}
	if len(out.Sentences) == 0 {
		out.Sentences = []string{plainText(all)}
	}
	return out, nil
}

func plainText(all []shape.At) string {
	if len(all) == 0 {
		return "nothing was measured"
	}
	for _, a := range all {
		if a.Repeats == 0 {
			return fmt.Sprintf("neither slower at low rates nor a limit, as far as the figures are the service's: at %s requests/s they are not", units.Count(a.Rate))
		}
	}
	return fmt.Sprintf("neither slower at low rates nor a limit, up to %s requests/s", units.Count(all[len(all)-1].Rate))
}

func cliffText(c shape.Cliff) string {
	if c.Never {
		return fmt.Sprintf("no answer to messages of %s and more; to those of %s they come within %s. A path that drops larger packets without an error looks like this (pmtu-blackhole): tracepath shows the size.",
			units.Bytes(float64(c.From.Size)), units.Bytes(float64(c.Below.Size)), units.Short(c.Below.P50))
	}
	return fmt.Sprintf("far slower from one size of messages on: half within %s with %s, within %s with %s.", units.Short(c.From.P50), units.Bytes(float64(c.From.Size)), units.Short(c.Below.P50), units.Bytes(float64(c.Below.Size)))
}

func kneeText(k shape.Knee, conns int) string {
	text := fmt.Sprintf("it answers at most %s requests/s.", units.Count(k.Most))
	if n := k.At.Streams; k.ByConns && n > 1 {
		return text + fmt.Sprintf(" All %d connections had %d requests open then: with more --conns or --streams it may be more.", conns, n)
	}
	if k.ByConns {
		return text + fmt.Sprintf(" All %d connections were waiting then: with more --conns it may be more.", conns)
	}
	if k.LessThanOne() {
		return text + fmt.Sprintf(" A request takes %s while nothing queues, so that these keep fewer than one worker busy (Little's law): the limit is not the service's work. Loss on the way looks like this, and whatever all requests wait for in turn.", units.Short(k.Base))
	}
	return text + fmt.Sprintf(" A request takes %s while nothing queues: it works on %.1f requests at a time (Little's law). Beyond that, requests queue.", units.Short(k.Base), k.Workers)
}

// leastOfAck is the share of the delay of an acknowledgement from which on an answer may have waited for one: the
// first write is on its way meanwhile.
const leastOfAck = 0.8

// tryChanges asks at a rate in turn as before, and with one thing changed.
func (out *Reading) tryChanges(ctx context.Context, s Sweep, slow shape.At, say func(string)) error {
	for _, c := range changesOf(s.Plan) {
		say(fmt.Sprintf("with and without %s at %s requests/s", c.name, units.Count(slow.Rate)))
		var all []shape.Pair
		for range pairs {
			p := s.Plan
			p.Rate, p.Conns, p.For = slow.Rate, slow.Conns, s.lasts(slow.Rate)
			s.resize(&p, slow.Size)
			as, err := Run(ctx, p)
			if err != nil {
				return err
			}
			c.set(&p)
			changed, err := Run(ctx, p)
			if err != nil || ctx.Err() != nil {
				return err
			}
			all = append(all, shape.Pair{As: PointOf(as), Changed: PointOf(changed)})
		}
		if shape.Frees(all) {
			last := all[len(all)-1]
			out.Freed = c.name
			out.Sentences = append(out.Sentences, fmt.Sprintf("At %s requests/s half of the answers come within %s; with %s on this side within %s.", units.Count(slow.Rate), units.Short(last.As.P50), c.name, units.Short(last.Changed.P50)), c.says)
			return nil
		}
	}
	return nil
}

// afterOverload compares half of the most that the service can do before and directly after more than it
// can.
func (out *Reading) afterOverload(ctx context.Context, s Sweep, k shape.Knee, conns int, say func(string)) error {
	say("half of that directly after too many")
	var rested, after []shape.Point
	p := s.Plan
	p.Conns, p.For, p.Warm = conns, max(s.Plan.For/2, time.Second), 0
	half := k.Most / 2
	run := func(rate float64) (shape.Point, error) {
		p.Rate = rate
		r, err := Run(ctx, p)
		if err != nil {
			return shape.Point{}, err
		}
		return PointOf(r), nil
	}
	for range pairs {
		a, err := run(half)
		if err != nil {
			return err
		}
		if _, err := run(k.At.Rate); err != nil {
			return err
		}
		b, err := run(half)
		if err != nil || ctx.Err() != nil {
			return err
		}
		rested, after = append(rested, a), append(after, b)
	}
	if h, found := shape.FindHysteresis(rested, after); found {
		out.Hysteresis = &h
		out.Sentences = append(out.Sentences, fmt.Sprintf("After too many requests it stays slow: half within %s at %s/s, where it was %s before.", units.Short(h.After), units.Count(half), units.Short(h.Rested)))
	}
	return nil
}

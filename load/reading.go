package load

import (
	"context"
	"fmt"

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
	// Advice is what the service should do with more requests than it can answer; none: no limit of it was found.
	Advice []string `json:"advice"`
}

// reader reads a sweep.
type reader struct {
	Reading
	sweep Sweep
	all   []shape.At
	say   func(string)
}

func (r *reader) found(format string, args ...any) {
	r.Sentences = append(r.Sentences, fmt.Sprintf(format, args...))
}

// Read looks for shapes, and tries by experiments what they come from. say is called before each. Once ctx is done none
// is tried: the sentences say so.
func Read(ctx context.Context, s Sweep, points []shape.Point, say func(string)) Reading {
	r := &reader{sweep: s, all: shape.Join(points), say: say}
	if len(s.Targets) > 1 {
		if c, found := shape.FindCliff(r.all); found {
			r.Cliff = &c
			r.found("%s", cliffText(c))
		}
	}
	for _, group := range shape.Groups(r.all) {
		r.hump(ctx, shape.Of(r.all, group))
	}
	for _, group := range shape.Groups(r.all) {
		r.delay(ctx, shape.Of(r.all, group))
	}
	for _, group := range shape.Groups(r.all) {
		r.knee(ctx, shape.Of(r.all, group), group.Conns)
	}
	if len(r.Sentences) == 0 {
		r.found("%s", plainText(r.all))
	}
	return r.Reading
}

func (r *reader) hump(ctx context.Context, on []shape.At) {
	h, found := shape.FindHump(on)
	if !found || r.Hump != nil {
		return
	}
	r.Hump = &h
	r.found("slower with few requests than with many: half within %s at %s/s, within %s at %s/s.", units.Short(h.Peak.P50), units.Count(h.Peak.Rate), units.Short(h.Beyond.P50), units.Count(h.Beyond.Rate))
	if tried := r.try(ctx, h.Peak); tried && r.Freed == "" && len(changesOf(r.sweep.Plan)) > 0 {
		r.found("Neither TCP_NODELAY nor TCP_QUICKACK on this side changes it: it is not Nagle's algorithm as far as this side can see. Measure both ends at the low rate: snag find there.")
	}
}

// delay looks for answers that each wait for a delayed acknowledgement. With one request open on a connection, all
// connections are in use then before any is asked so often that it no longer does.
func (r *reader) delay(ctx context.Context, on []shape.At) {
	if at, found := shape.FindDelay(on, leastOfAck*ackDelay.Seconds()); found && r.Hump == nil && r.Freed == "" {
		r.try(ctx, at)
	}
}

func (r *reader) knee(ctx context.Context, on []shape.At, conns int) {
	k, found := shape.FindKnee(on)
	if !found || r.Knee != nil && !k.ByConns && k.Most <= r.Knee.Most {
		return
	}
	r.Knee, r.Advice = &k, nil
	if r.Freed != "" { // the limit is that of the delay
		r.found("With that delay it answers at most %s requests/s.", units.Count(k.Most))
		return
	}
	if k.NoWork() {
		r.found("from %s requests/s on a request takes %s, where it takes %s with fewer. The service is not busy then: what it answers is less than one request at a time (Little's law).", units.Count(k.At.Rate), units.Short(k.At.P50), units.Short(k.Base))
		r.try(ctx, k.At)
		return
	}
	r.found("%s", kneeText(k, conns))
	if !k.ByConns && !k.LessThanOne() {
		r.Advice = shed(overload{asked: k.At.Rate, answers: k.At.Answers, most: k.Most, within: r.sweep.Plan.patience()})
	}
	if peak, after, falls := shape.Falls(on); falls {
		r.found("More requests bring fewer answers: %s/s of %s asked, %s/s of %s.", units.Count(peak.Answers), units.Count(peak.Rate), units.Count(after.Answers), units.Count(after.Rate))
		if u, ok := shape.FitUSL(r.all); ok {
			r.USL = &u
			r.found("By the Universal Scalability Law most answers come with %.0f requests open.", u.Best())
		}
	}
	r.afterOverload(ctx, k, conns)
}

func plainText(all []shape.At) string {
	highest := 0.0
	for _, a := range all {
		if a.Repeats == 0 && !a.Failed {
			return fmt.Sprintf("neither slower at low rates nor a limit, as far as the figures are the service's: at %s requests/s they are not", units.Count(a.Rate))
		}
		if a.Solid() {
			highest = max(highest, a.Rate)
		}
	}
	if highest == 0 {
		return "nothing can be said: no rate has two runs with figures of the service"
	}
	return fmt.Sprintf("neither slower at low rates nor a limit, up to %s requests/s", units.Count(highest))
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

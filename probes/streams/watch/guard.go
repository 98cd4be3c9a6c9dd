package watch

import (
	"fmt"
	"time"
)

// Limits say how often something may be done about frozen streams. A watchdog
// that restarts a transcoder makes a freeze of its own each time: without limits
// it keeps the stream down for ever.
type Limits struct {
	Least     time.Duration // between two actions for one stream; doubled with each that did not help
	Most      time.Duration // … up to this
	PerMinute int           // over all streams
	Tries     int           // actions for one stream within Within that did not help: then no more for it
	Within    time.Duration
	AllTries  int           // the same over all streams: then no more for any
	Heals     time.Duration // a stream that ran so long without a freeze is well: what was done helped
}

// DefaultLimits are docs/watch.md's.
var DefaultLimits = Limits{
	Least: 30 * time.Second, Most: 30 * time.Minute, PerMinute: 6,
	Tries: 5, Within: 30 * time.Minute, AllTries: 20, Heals: 2 * time.Minute,
}

// Decision is whether to act now, and why not.
type Decision struct {
	Act  bool
	Why  string    // of a no, for a person
	Next time.Time // when to ask again
	// Broken is set with the first no of an open circuit breaker: worth a line of
	// its own.
	Broken bool
}

// Guard decides whether an action may be taken for a frozen stream. It does
// nothing itself and reads no clock. Not for concurrent use.
type Guard struct {
	limits  Limits
	streams map[string]*patient
	lately  []time.Time // of every stream's actions, of the last minute
	tries   []time.Time // of every stream's actions that did not help, or not yet
	open    bool        // the breaker over all is open, and it was said
}

// patient is one stream's history.
type patient struct {
	acted   []time.Time // that did not help, or not yet; of Within
	step    time.Duration
	well    time.Time // since when it runs; zero: frozen
	open    bool      // its breaker is open, and it was said
	touched time.Time
}

// NewGuard returns a guard that has seen nothing.
func NewGuard(l Limits) *Guard { return &Guard{limits: l, streams: map[string]*patient{}} }

// Ask whether to act for a stream that is frozen at now. A yes counts as done.
func (g *Guard) Ask(stream string, now time.Time) Decision {
	p := g.patient(stream, now)
	g.heal(p, now)
	p.well = time.Time{}
	p.acted = after(p.acted, now.Add(-g.limits.Within))
	g.tries = after(g.tries, now.Add(-g.limits.Within))
	g.lately = after(g.lately, now.Add(-time.Minute))
	switch {
	case len(p.acted) >= g.limits.Tries:
		first := !p.open
		p.open = true
		return Decision{Broken: first, Next: p.acted[0].Add(g.limits.Within),
			Why: fmt.Sprintf("%d actions in %s did not end its freezes: stopped for this stream until one of them is %s old; look at what the action does",
				len(p.acted), short(now.Sub(p.acted[0])), short(g.limits.Within))}
	case len(g.tries) >= g.limits.AllTries:
		first := !g.open
		g.open = true
		return Decision{Broken: first, Next: g.tries[0].Add(g.limits.Within),
			Why: fmt.Sprintf("%d actions over all streams in %s did not end their freezes: stopped for all until one of them is %s old; the cause is likely one and elsewhere",
				len(g.tries), short(now.Sub(g.tries[0])), short(g.limits.Within))}
	case len(p.acted) > 0 && now.Before(p.acted[len(p.acted)-1].Add(p.step)):
		next := p.acted[len(p.acted)-1].Add(p.step)
		return Decision{Next: next, Why: fmt.Sprintf("the last action for it was %s ago: the next after %s",
			short(now.Sub(p.acted[len(p.acted)-1])), short(p.step))}
	case len(g.lately) >= g.limits.PerMinute:
		return Decision{Next: g.lately[0].Add(time.Minute),
			Why: fmt.Sprintf("%d actions over all streams in the last minute, which is the limit", len(g.lately))}
	}
	p.step = min(max(2*p.step, g.limits.Least), g.limits.Most)
	p.acted, g.tries, g.lately = append(p.acted, now), append(g.tries, now), append(g.lately, now)
	p.open, g.open = false, false
	return Decision{Act: true}
}

// Well says that a stream's freeze has ended. That it stays so counts, not this.
func (g *Guard) Well(stream string, now time.Time) {
	if p, ok := g.streams[stream]; ok && p.well.IsZero() {
		p.well, p.touched = now, now
	}
}

// heal forgets what was done for a stream that has been well for long enough.
func (g *Guard) heal(p *patient, now time.Time) {
	if p.well.IsZero() || now.Sub(p.well) < g.limits.Heals {
		return
	}
	for _, t := range p.acted {
		g.tries = without(g.tries, t)
	}
	p.acted, p.step, p.open = nil, 0, false
}

// Sweep forgets streams that nothing was done for lately, and heals those that
// are well: a list that changes for months must not make the guard grow.
func (g *Guard) Sweep(now time.Time) {
	for name, p := range g.streams {
		g.heal(p, now)
		if now.Sub(p.touched) > g.limits.Within+g.limits.Most {
			delete(g.streams, name)
		}
	}
}

func (g *Guard) patient(stream string, now time.Time) *patient {
	p, ok := g.streams[stream]
	if !ok {
		p = &patient{}
		g.streams[stream] = p
	}
	p.touched = now
	return p
}

// after keeps the times that are later than t; they are in order.
func after(times []time.Time, t time.Time) []time.Time {
	for len(times) > 0 && !times[0].After(t) {
		times = times[1:]
	}
	return times
}

func without(times []time.Time, t time.Time) []time.Time {
	for i := range times {
		if times[i].Equal(t) {
			return append(times[:i:i], times[i+1:]...)
		}
	}
	return times
}

// short writes a length as a person says it.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}

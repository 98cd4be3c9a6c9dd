package watch

import (
	"fmt"
	"slices"
	"time"
)

// Decision is whether to act now, and why not.
type Decision struct {
	Act   bool
	Why   string    // of a no, for a person
	Limit string    // the rule behind it, the same for every stream that it holds back
	Next  time.Time // when to ask again
	// Broken is set with the first no of an open circuit breaker: worth a line of
	// its own.
	Broken bool
}

// Guard decides whether an action may be taken for frozen streams. It does nothing
// itself and reads no clock. Not for concurrent use.
type Guard struct {
	limits  Limits
	streams map[string]*patient
	lately  []time.Time // of all actions, of the last minute
	tries   []*try      // all actions that did not help, or not yet
	open    bool        // the breaker over all is open, and it was said
}

// try is one action, for one stream or many.
type try struct {
	at   time.Time
	sick int // streams of it that it has not helped yet
}

// patient is one stream's history.
type patient struct {
	acted   []*try // that did not help, or not yet; of Within
	step    time.Duration
	well    time.Time // since when it runs; zero: frozen
	open    bool      // its breaker is open, and it was said
	touched time.Time
}

// NewGuard returns a guard that has seen nothing.
func NewGuard(l Limits) *Guard { return &Guard{limits: l, streams: map[string]*patient{}} }

// Sick says that a stream is frozen at now.
func (g *Guard) Sick(stream string, now time.Time) {
	p, ok := g.streams[stream]
	if !ok {
		p = &patient{}
		g.streams[stream] = p
	}
	g.heal(p, now)
	p.well, p.touched = time.Time{}, now
}

// One reports whether to act for one stream, by what was done for it.
func (g *Guard) One(stream string, now time.Time) Decision {
	p, ok := g.streams[stream]
	if !ok {
		return Decision{Act: true}
	}
	p.acted = after(p.acted, now.Add(-g.limits.Within))
	if len(p.acted) == 0 {
		return Decision{Act: true}
	}
	last := p.acted[len(p.acted)-1].at
	switch {
	case len(p.acted) >= g.limits.Tries:
		first := !p.open
		p.open = true
		return Decision{Broken: first, Next: p.acted[0].at.Add(g.limits.Within),
			Limit: fmt.Sprintf("%d actions for a stream in %s that did not end its freezes are the limit", g.limits.Tries, short(g.limits.Within)),
			Why: fmt.Sprintf("%d actions in %s did not end its freezes: stopped for this stream until one of them is %s old; look at what the action does",
				len(p.acted), short(now.Sub(p.acted[0].at)), short(g.limits.Within))}
	case now.Before(last.Add(p.step)):
		return Decision{Next: last.Add(p.step), Why: fmt.Sprintf("the last action for it was %s ago: the next after %s", short(now.Sub(last)), short(p.step)),
			Limit: fmt.Sprintf("the next action for a stream comes %s after the last, later with each that did not help", short(g.limits.Least))}
	}
	return Decision{Act: true}
}

// All reports whether to act at all, by what was done for all streams.
func (g *Guard) All(now time.Time) Decision {
	g.tries = after(g.tries, now.Add(-g.limits.Within))
	g.lately = slices.DeleteFunc(g.lately, func(t time.Time) bool { return !t.After(now.Add(-time.Minute)) })
	switch {
	case len(g.tries) >= g.limits.AllTries:
		first := !g.open
		g.open = true
		return Decision{Broken: first, Next: g.tries[0].at.Add(g.limits.Within),
			Limit: fmt.Sprintf("%d actions over all streams in %s that did not end their freezes are the limit", g.limits.AllTries, short(g.limits.Within)),
			Why: fmt.Sprintf("%d actions over all streams in %s did not end their freezes: stopped for all until one of them is %s old; the cause is likely one and elsewhere",
				len(g.tries), short(now.Sub(g.tries[0].at)), short(g.limits.Within))}
	case len(g.lately) >= g.limits.PerMinute:
		limit := fmt.Sprintf("%d actions over all streams in a minute, which is the limit", len(g.lately))
		return Decision{Next: g.lately[0].Add(time.Minute), Why: limit, Limit: limit}
	}
	return Decision{Act: true}
}

// Acted says that one action was taken for these streams; of none, one that is not to help anybody.
func (g *Guard) Acted(streams []string, now time.Time) {
	t := &try{at: now}
	for _, name := range streams {
		p, ok := g.streams[name]
		if !ok {
			continue // Sick was not said of it: it is over long ago
		}
		t.sick++
		p.acted, p.open = append(p.acted, t), false
		p.step = min(max(2*p.step, g.limits.Least), g.limits.Most)
		p.touched = now
	}
	if g.lately, g.open = append(g.lately, now), false; len(streams) > 0 {
		g.tries = append(g.tries, t)
	}
}

// Well says that a stream's freeze has ended. That it stays so counts, not this.
func (g *Guard) Well(stream string, now time.Time) {
	if p, ok := g.streams[stream]; ok && p.well.IsZero() {
		p.well, p.touched = now, now
	}
}

// heal forgets what was done for a stream that has been well for long enough. An
// action for many has helped when all of them are.
func (g *Guard) heal(p *patient, now time.Time) {
	if p.well.IsZero() || now.Sub(p.well) < g.limits.Heals {
		return
	}
	for _, t := range p.acted {
		t.sick--
	}
	g.tries = slices.DeleteFunc(g.tries, func(t *try) bool { return t.sick <= 0 })
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

// after keeps the actions that are later than t; they are in order.
func after(tries []*try, t time.Time) []*try {
	for len(tries) > 0 && !tries[0].at.After(t) {
		tries = tries[1:]
	}
	return tries
}

package watch

import (
	"context"
	"time"
)

// keepGone is how long a stream that its server no longer lists is watched on: that it
// is gone is what somebody must see.
const keepGone = 5 * time.Minute

// FollowDiscovery keeps to what a server says that it carries until ctx ends.
func (w *Watcher) FollowDiscovery(ctx context.Context, d *Discovery) {
	if d.kind.leave != nil {
		defer d.kind.leave(d)
	}
	f := w.following(d)
	if d.lister != nil {
		f.follow(ctx)
		return
	}
	f.ask(ctx, time.Now())
	every(ctx, discoverEvery, func() { f.ask(ctx, time.Now()) })
}

// following is one server whose list is kept to.
type following struct {
	w    *Watcher
	d    *Discovery
	told map[string]bool // what was said of its answers
	seen gone
}

func (w *Watcher) following(d *Discovery) *following {
	return &following{w: w, d: d, told: map[string]bool{}, seen: gone{most: w.o.Most}}
}

// ask asks once. Where the server gives no list, what it said before is watched on, for
// as long as that lasts.
func (f *following) ask(ctx context.Context, now time.Time) {
	entries, problems, err := f.d.Ask(ctx)
	if err == nil || ctx.Err() == nil {
		f.take(entries, problems, err, now)
	}
}

// take keeps to one list.
func (f *following) take(entries []Entry, problems []Problem, err error, now time.Time) {
	if err != nil {
		if !f.told[err.Error()] {
			f.w.o.Note(err.Error() + "; what it said before is watched on")
			f.told = map[string]bool{err.Error(): true}
		}
		return
	}
	for _, p := range problems {
		if !f.told[p.Why] && len(f.told) < 100 {
			f.told[p.Why] = true
			f.w.o.Note(p.Error())
		}
	}
	f.w.Set(f.d.Name(), f.seen.keep(entries, now))
}

// gone keeps streams for a while that are no longer listed.
type gone struct {
	most  int // so many are kept
	order []Entry
	since map[string]time.Time // by key: when a list came without it
}

// keep returns those that are listed, and behind them those that were. Their time begins
// with the first list that lacks them: a server that gave none for an hour says nothing
// of that hour.
func (g *gone) keep(listed []Entry, now time.Time) []Entry {
	here := make(map[string]bool, len(listed))
	out := make([]Entry, 0, len(listed))
	for _, e := range listed {
		if !here[e.key()] {
			here[e.key()] = true
			out = append(out, e)
		}
	}
	since := map[string]time.Time{}
	for _, e := range g.order {
		if here[e.key()] {
			continue
		}
		from, known := g.since[e.key()]
		if !known {
			from = now
		}
		if now.Sub(from) < keepGone && len(since) < g.most {
			since[e.key()] = from
			out = append(out, e)
		}
	}
	g.order, g.since = out, since
	return out
}

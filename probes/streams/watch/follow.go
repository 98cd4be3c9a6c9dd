package watch

import (
	"context"
	"fmt"
	"time"
)

// How often sources are asked.
const (
	lookEvery     = time.Second
	discoverEvery = 10 * time.Second
	// keepGone is how long a stream that its server no longer lists is watched on:
	// that it is gone is what somebody must see.
	keepGone = 5 * time.Minute
)

// FollowList keeps to a list until ctx ends; it has been looked at once (Look),
// and what it said then was set.
func (w *Watcher) FollowList(ctx context.Context, l *ListFile) {
	told := ""
	every(ctx, lookEvery, func() {
		entries, problems, changed, err := l.Look(time.Now())
		if err != nil {
			if err.Error() != told {
				w.o.Note(err.Error() + "; what it said before is watched on")
			}
			told = err.Error()
			return
		}
		told = ""
		if changed {
			w.SetList(l, entries, problems)
			w.o.Note(fmt.Sprintf("%s was read again: %d streams", l.Path(), len(entries)))
		}
	})
}

// SetList sets what a list said.
func (w *Watcher) SetList(l *ListFile, entries []Entry, problems []Problem) {
	for _, p := range problems {
		w.o.Note(p.Error())
	}
	w.Set(l.Path(), entries)
}

// FollowDiscovery keeps to what a server says that it carries until ctx ends.
func (w *Watcher) FollowDiscovery(ctx context.Context, d *Discovery) {
	told := map[string]bool{}
	var seen gone
	ask := func() {
		entries, problems, err := d.Ask(ctx)
		if err != nil {
			if ctx.Err() == nil && !told[err.Error()] {
				w.o.Note(err.Error() + "; what it said before is watched on")
				told = map[string]bool{err.Error(): true}
			}
			return
		}
		for _, p := range problems {
			if !told[p.Why] && len(told) < 100 {
				told[p.Why] = true
				w.o.Note(p.Error())
			}
		}
		w.Set(d.Name(), seen.keep(entries, time.Now()))
	}
	ask()
	every(ctx, discoverEvery, ask)
}

// gone keeps streams for a while that are no longer listed.
type gone struct {
	order []Entry
	seen  map[string]time.Time // by key: when it was last listed
}

// maxGone streams that are no longer listed are kept.
const maxGone = 1000

func (g *gone) keep(listed []Entry, now time.Time) []Entry {
	if g.seen == nil {
		g.seen = map[string]time.Time{}
	}
	here := make(map[string]bool, len(listed))
	out := make([]Entry, 0, len(listed))
	for _, e := range listed {
		if !here[e.key()] {
			here[e.key()] = true
			g.seen[e.key()] = now
			out = append(out, e)
		}
	}
	missing := 0
	for _, e := range g.order {
		switch {
		case here[e.key()]:
		case now.Sub(g.seen[e.key()]) < keepGone && missing < maxGone:
			missing++
			out = append(out, e)
		default:
			delete(g.seen, e.key())
		}
	}
	g.order = out
	return out
}

func every(ctx context.Context, period time.Duration, do func()) {
	t := time.NewTicker(period)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			do()
		}
	}
}

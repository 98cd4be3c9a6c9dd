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
			w.o.Note(fmt.Sprintf("%s was read again: %d streams", l.Path(), streamsOf(entries)))
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

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"snag/internal/cli"
	"snag/probes/probe"
	"snag/probes/streams"
	"snag/probes/streams/watch"
	"snag/recording"
)

// recordMostWait is how long a stream that is gone is not asked for. It is less than of snag watch, as
// by when it came back the cause is known.
const recordMostWait = 10 * time.Second

// viewing reads the streams of snag record. It outlives the pieces of the ring and the recorder's
// sessions, so that each stream has one connection.
type viewing struct {
	w       *watch.Watcher
	entries []watch.Entry
	note    func(string)

	mu   sync.Mutex
	told map[string]bool // streams that could not be read, and have given no frame since
}

// newViewing returns nil if no stream was asked for.
func newViewing(urls []string, note func(string)) (*viewing, error) {
	entries, _, err := streams.Entries(urls, "")
	if err != nil {
		return nil, cli.Usage("%v", err)
	}
	if len(entries) == 0 {
		return nil, nil
	}
	v := &viewing{entries: entries, note: note, told: map[string]bool{}}
	v.w = watch.New(watch.Options{
		Open: streams.Open, Anchor: probe.NewAnchor(), Every: streams.ReadEvery, Compare: true, MostWait: recordMostWait,
		Tell: v.tell, Note: note,
	})
	v.w.Set("--stream", entries)
	return v, nil
}

// probe replaces the recorder's probe of streams.
func (v *viewing) probe() *probe.Probe {
	if v == nil {
		return nil
	}
	return streams.Kept(v.w, v.entries)
}

// run reads until ctx ends.
func (v *viewing) run(ctx context.Context) {
	if v != nil {
		v.w.Run(ctx)
		v.w.End()
	}
}

// tell says once that a stream cannot be read. What happens to it later is an incident.
func (v *viewing) tell(h watch.Happened) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch h.Kind {
	case recording.EventStreamFirstFrame:
		delete(v.told, h.Stream)
	case recording.EventStreamRefused:
		if !v.told[h.Stream] {
			v.told[h.Stream] = true
			v.note(fmt.Sprintf("stream %s cannot be read: %s; recording goes on, and the stream is asked for again", h.Stream, h.Why))
		}
	}
}

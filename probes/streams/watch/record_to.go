package watch

import (
	"time"

	"snag/probes/streams/figures"
	"snag/recording"
)

// Record is one more recording that a watch writes to, for a while.
type Record struct {
	w      *Watcher
	sink   recording.Sink
	anchor recording.Anchor
	late   time.Duration // the worst since it began; under the watcher's lock
}

// RecordTo writes every stream that is watched to sink too, until Stop: its figures,
// its rows, and the events that end or still stand then. anchor is that recording's.
// There is one such recording at a time.
func (w *Watcher) RecordTo(sink recording.Sink, anchor recording.Anchor) *Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.record = &Record{w: w, sink: sink, anchor: anchor}
	for _, s := range w.streams {
		s.beside = figures.NewWriter(sink, anchor, w.place(s))
	}
	return w.record
}

// Stop writes every stream's last row, and what still stands.
func (r *Record) Stop() {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	for _, s := range r.w.streams {
		r.w.closeBeside(s)
	}
	r.w.record = nil
}

// Late is the latest that the watch ran since the recording began.
func (r *Record) Late() time.Duration {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	return r.late
}

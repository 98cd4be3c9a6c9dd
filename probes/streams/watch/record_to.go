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
	lately time.Duration // the worst since Lately
	ring   bool          // it is in pieces
}

// RecordTo writes every stream that is watched to sink too, until Stop: its figures,
// its rows, and the events that end or still stand then. anchor is that recording's.
// There is one such recording at a time.
func (w *Watcher) RecordTo(sink recording.Sink, anchor recording.Anchor) *Record {
	return w.recordTo(&Record{w: w, sink: sink, anchor: anchor})
}

// RecordToRing is RecordTo for a recording in pieces: what goes on is written when it begins, and again
// at each Restate.
func (w *Watcher) RecordToRing(sink recording.Sink, anchor recording.Anchor) *Record {
	r := w.recordTo(&Record{w: w, sink: sink, anchor: anchor, ring: true})
	r.Restate()
	return r
}

func (w *Watcher) recordTo(r *Record) *Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.record = r
	for _, s := range w.streams {
		s.beside = r.writer(s)
	}
	return r
}

// writer is a stream's. The caller holds the watcher's lock.
func (r *Record) writer(s *one) *figures.Writer {
	to := figures.NewWriter(r.sink, r.anchor, r.w.place(s))
	if !r.ring {
		return to
	}
	to.Ring()
	to.Events(s.stood) // the recorder starts again when the clock is set: what was open still is
	return to
}

// Restate writes each stream's row and what stands of it into a piece that began.
func (r *Record) Restate() {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	for _, s := range r.w.streams {
		if s.beside != nil {
			s.beside.Restate(r.w.now(), s.figures.Info(), s.lastError())
		}
	}
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

// Lately is the latest that the watch ran since Lately was called before.
func (r *Record) Lately() time.Duration {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	late := r.lately
	r.lately = 0
	return late
}

package watch

import (
	"context"
	"time"

	"snag/probes/streams/figures"
	"snag/probes/streams/stream"
	"snag/recording"
)

// tick looks at every stream: figures of the seconds that are whole, events,
// alarms.
func (w *Watcher) tick(late time.Duration) {
	w.mu.Lock()
	now := w.now()
	w.seen = now
	if w.o.Seen != nil {
		if seen := w.o.Seen(); seen != 0 {
			w.seen = min(seen, now)
		}
	}
	shown := late
	if behind := time.Duration(now - w.seen); behind > usual*10 {
		shown = max(late, behind)
	}
	w.meter.tick(time.Now(), shown)
	if w.record != nil {
		w.record.late, w.record.lately = max(w.record.late, shown), max(w.record.lately, shown)
	}
	w.leaveOwn()
	var told []Happened
	for _, s := range w.streams {
		told = w.look(s, now, late, told)
	}
	notes := append(w.matchLayers(now), w.kindred(now)...)
	notes = append(notes, w.lookAtPictures(now)...)
	notes = append(notes, w.listen(now)...)
	wrong, others := w.alarming(now)
	w.mu.Unlock()
	for _, text := range notes {
		w.o.Note(text)
	}
	for _, h := range told {
		w.o.Tell(h)
	}
	w.raise(wrong, others, time.Unix(0, int64(w.time(now))))
}

func (w *Watcher) look(s *one, now int64, late time.Duration, told []Happened) []Happened {
	if s.joined {
		now = w.seen - s.lag
	}
	if late > usual {
		s.figures.Late(now, int64(late))
	}
	if due := s.sink.due.Load(); due != 0 {
		s.readerLate(now, due)
	}
	if second, whole := s.figures.Tick(now); whole {
		s.second, s.figure = second, true
		s.signs.second(second, now)
		if s.link0().phase == reading {
			s.fps.add(measured(fpsOf(second)))
			s.drift.add(measured(second.Drift))
		} else {
			s.fps.add(-1)
			s.drift.add(-1)
		}
		w.write(s, second)
		w.remember(s, second)
	}
	w.row = s.figures.Events(w.row[:0])
	if s.eye != nil {
		w.row = s.eye.events(w.row)
	}
	if s.ear != nil {
		w.row = s.ear.events(w.row)
	}
	s.record(w.row)
	s.stood.take(w.row)
	w.noteHurts(s)
	for i, e := range w.row {
		s.signs.note(e, now)
		if s.past != nil {
			s.past.Event(e)
		}
		h := Happened{Event: e, Stream: s.entry.Name, Layer: s.entry.Layer, Side: s.side, Labels: s.entry.Labels, Beside: w.beside(), T: w.time(e.Start), At: w.time(s.begins.knownAt(e, w.row[i+1:], now))}
		if e.End != 0 {
			h.End = w.time(e.End)
		}
		if e.Kind == recording.EventStreamFreeze && e.Phase == figures.Begun && !e.Doubt {
			w.freezes++
			s.begun++
			s.counted = e.ID
			w.sick = w.sick || w.o.Over // no tick may see it stand
		}
		if e.Kind == recording.EventStreamFreeze && e.Phase == figures.Ended && e.Doubt && s.counted == e.ID {
			w.freezes-- // it shows only now that the observer missed data then
			s.begun--
			s.counted = 0
		}
		if e.Kind == recording.EventStreamFirstFrame && s.first == 0 {
			s.first = e.Start
		}
		if e.Phase != figures.Updated {
			s.recent = remember(s.recent, h)
		}
		told = append(told, h)
	}
	return told
}

// fpsOf is frames per second, of the kind that the picture is.
func fpsOf(s figures.Second) figures.Value {
	if s.Audio.Present && !s.Video.Present && s.Video.Frames == 0 || s.Main == stream.Audio {
		return s.Audio.FPS
	}
	return s.Video.FPS
}

func (s *one) link0() link {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.link
	if l.phase != reading {
		s.signs.live = false
	}
	return l
}

func (w *Watcher) time(mono int64) recording.Time { return w.o.Anchor.FromMonotonic(mono) }

// timeIf is time, and 0 for what has not been.
func (w *Watcher) timeIf(mono int64) recording.Time {
	if mono == 0 {
		return 0
	}
	return w.time(mono)
}

// Snapshot copies how everything stands.
func (w *Watcher) Snapshot() Snapshot {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	snap := Snapshot{T: w.time(now), Left: w.left, Own: w.meter.own, Freeze: w.freezes, Rows: make([]Row, 0, len(w.streams))}
	for _, s := range w.streams {
		r := w.rowOf(s, now)
		snap.States[r.State]++
		snap.Rows = append(snap.Rows, r)
	}
	return snap
}

func (w *Watcher) rowOf(s *one, now int64) Row {
	l := s.link0()
	state, since := stateOf(l, s.signs, now)
	r := Row{
		Side: s.side, Kin: s.kin.known, Unnamed: s.kin.unnamed != "", Beside: w.beside(),
		Entry: s.entry, Shown: s.shown, Protocol: s.protocol, State: state, Since: w.timeIf(since), Retry: w.timeIf(l.retry),
		Local: l.local, Remote: l.remote, Params: l.params,
		Asked: w.timeIf(l.begun), First: w.timeIf(s.first),
		Second: s.second, Figure: s.figure, FPS: s.fps.list(), Drift: s.drift.list(),
		Recent: append([]Happened(nil), s.recent...), Freezes: s.begun, Judged: s.judged,
	}
	r.Why = s.why(state, l)
	if s.eye != nil {
		r.Picture = s.eye.sees(now)
	}
	if s.ear != nil {
		r.Sound = s.ear.hears(now)
	}
	return r
}

// why is what is known of a state's reason; "" for nothing.
func (s *one) why(state State, l link) string {
	switch {
	case l.err != nil && l.phase != reading:
		return Clean(l.err.Error(), 300)
	case state == NoAnswer && comesByItself(s.protocol):
		return "nothing comes to this address: is it sent, and does it get through to this host?"
	case state == NoAnswer:
		return "the server took the connection and gives no stream: nobody publishes it, as it seems"
	case state == Frozen:
		return s.signs.reason
	}
	return ""
}

// beside reports whether connections are watched beside streams that are read: then
// a name alone does not say which of the two it is.
func (w *Watcher) beside() bool { return w.crowd != nil && len(w.sources) > 0 && w.asked > 0 }

// raise tells the alarms of what is wrong and what no longer is.
func (w *Watcher) raise(wrong []raised, others int, wall time.Time) {
	ctx := context.WithoutCancel(w.context())
	for _, a := range w.o.Alarms {
		a.Tick(ctx, wrong, others, wall)
	}
}

// End ends the alarms, once the watch has and nobody judges any more: what is still
// to be told is told now.
func (w *Watcher) End() {
	ctx := context.WithoutCancel(w.context())
	wall := time.Unix(0, int64(w.time(w.now())))
	for _, a := range w.o.Alarms {
		a.End(ctx, wall)
	}
}

func (w *Watcher) context() context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx == nil {
		return context.Background()
	}
	return w.ctx
}

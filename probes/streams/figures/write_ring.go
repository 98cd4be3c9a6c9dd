package figures

import "snag/recording"

// standing is what holds of a stream until it gives frames again, beside the intervals that are open:
// that it ended, and the last refusal.
type standing struct{ ended, refused *Event }

// Ring makes it the writer of a recording in pieces (snag record), each of which is read without those
// before. An event that goes on is written when it begins, without an end, in each piece (Restate), and
// again when it is over. So is that the stream ended or was refused: its end is the next frame.
func (w *Writer) Ring() *Writer {
	w.ring = &standing{}
	return w
}

// stands takes an event that says whether the stream is there. It returns true if it has written the
// event.
func (w *Writer) stands(e Event) bool {
	s := w.ring
	switch e.Kind {
	case recording.EventStreamFirstFrame:
		w.leave(e.Start)
	case recording.EventStreamEnded:
		w.leave(e.Start)
		s.ended = w.standing(e)
		return true
	case recording.EventStreamRefused:
		w.over(&s.refused, e.Start)
		s.refused = w.standing(e)
		return true
	}
	return false
}

// standing writes an event without an end.
func (w *Writer) standing(e Event) *Event {
	e.End = 0
	w.sink.Append(w.Row(e))
	return &e
}

// withdraw takes back the beginning of an event that turned out to be the observer's: it lasted no time.
func (w *Writer) withdraw(e Event) {
	e.Doubt, e.End, e.Value = false, e.Start, 0
	w.sink.Append(w.Row(e))
}

// leave ends what stands.
func (w *Writer) leave(now int64) {
	if w.ring != nil {
		w.over(&w.ring.ended, now)
		w.over(&w.ring.refused, now)
	}
}

func (w *Writer) over(e **Event, now int64) {
	if *e != nil {
		(*e).End = max(now, (*e).Start)
		w.sink.Append(w.Row(**e))
		*e = nil
	}
}

// Restate writes what a piece must know of the stream: its row, also of a stream that has given no frame
// yet, and the events that go on. err is why it is not read, nil where it is.
func (w *Writer) Restate(now int64, i Info, err error) {
	row := w.stream(i)
	if err != nil {
		row.Error = err.Error()
	}
	w.append(w.anchor.FromMonotonic(now), row)
	for _, e := range w.open {
		w.sink.Append(w.Row(e))
	}
	for _, e := range []*Event{w.ring.ended, w.ring.refused} {
		if e != nil {
			w.sink.Append(w.Row(*e))
		}
	}
}

package figures

import (
	"errors"
	"testing"

	"snag/recording"
)

func eventsOf(s *taken, kind string) (out []recording.Event) {
	for _, row := range s.rows {
		if e, ok := row.(recording.Event); ok && e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// In a ring an event is there from its beginning, in each piece, and then with its end.
func TestRingWriter(t *testing.T) {
	t.Parallel()
	tr := steady(25, 25*30, 50, 46).hold(20*second, 3*second)
	r := tr.run(Options{})
	sink := &taken{last: map[string]float64{}}
	w := NewWriter(sink, recording.Anchor{}, Place{Name: "a"}).Ring()
	for _, e := range r.events {
		w.Events([]Event{e})
		if e.Kind == recording.EventStreamFreeze && e.Phase == Begun {
			w.Restate(e.Start+2*second, r.meter.Info(), errors.New("frozen"))
		}
	}
	all := eventsOf(sink, recording.EventStreamFreeze)
	if len(all) != 3 || all[0].End != 0 || all[1].End != 0 || all[2].End == 0 || all[0].T != all[1].T || all[1].T != all[2].T {
		t.Errorf("%+v, want a beginning, the same in the next piece, and its end", all)
	}
	sink.rows = nil
	if w.Restate(0, r.meter.Info(), nil); len(sink.rows) != 1 {
		t.Errorf("%+v, want the stream's row alone", sink.rows)
	}
}

// A stream that ended is gone until its next frame; the last refusal too.
func TestRingWriterOfAStreamThatIsGone(t *testing.T) {
	t.Parallel()
	sink := &taken{last: map[string]float64{}}
	w := NewWriter(sink, recording.Anchor{}, Place{Name: "a"}).Ring()
	at := func(kind string, s int64) { w.Events([]Event{{Kind: kind, Start: s * second, End: s * second}}) }
	at(recording.EventStreamEnded, 1)
	at(recording.EventStreamRefused, 2)
	at(recording.EventStreamRefused, 3)
	w.Restate(4*second, Info{}, errors.New("refused"))
	if n, m := len(eventsOf(sink, recording.EventStreamEnded)), len(eventsOf(sink, recording.EventStreamRefused)); n != 2 || m != 4 {
		t.Errorf("%d and %d rows, want the end twice, both refusals, the end of the first, and the second again", n, m)
	}
	at(recording.EventStreamFirstFrame, 9)
	last := map[recording.Time]recording.Time{}
	for _, e := range append(eventsOf(sink, recording.EventStreamEnded), eventsOf(sink, recording.EventStreamRefused)...) {
		last[e.T] = e.End
	}
	for began, end := range map[recording.Time]recording.Time{1e9: 9e9, 2e9: 3e9, 3e9: 9e9} {
		if last[began] != end {
			t.Errorf("what began at %d ended at %d, want %d", began, last[began], end)
		}
	}
	sink.rows = nil
	if w.Restate(10*second, Info{}, nil); len(sink.rows) != 1 {
		t.Errorf("%+v, want the stream's row alone", sink.rows)
	}
}

// A freeze that turns out to be the observer's leaves none that stands.
func TestRingWriterTakesBack(t *testing.T) {
	t.Parallel()
	sink := &taken{last: map[string]float64{}}
	w := NewWriter(sink, recording.Anchor{}, Place{Name: "a"}).Ring()
	e := Event{ID: 1, Phase: Begun, Kind: recording.EventStreamFreeze, Start: second, Value: 1}
	w.Events([]Event{e})
	e.Phase, e.End, e.Doubt, e.ObserverLate = Ended, 4*second, true, 3
	w.Events([]Event{e})
	if all := eventsOf(sink, recording.EventStreamFreeze); len(all) != 2 || all[1].End != all[1].T {
		t.Errorf("%+v", all)
	}
	if len(eventsOf(sink, recording.EventObserverLate)) != 1 {
		t.Error("the observer's lateness is not told")
	}
}

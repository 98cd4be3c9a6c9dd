package scene

import (
	"reflect"
	"testing"

	"snag/recording"
)

// A stream that ended before the part of a ring that is judged is away in all of it, if it had come.
func TestGoneSinceBeforeTheWindow(t *testing.T) {
	t.Parallel()
	const s = recording.Time(1e9)
	window := recording.Interval{Start: 100 * s, End: 130 * s}
	ended := recording.Event{T: 40 * s, Kind: recording.EventStreamEnded}
	for _, tt := range []struct {
		name  string
		first recording.Time
		want  int
	}{{"it had come", 10 * s, 1}, {"it gave no frame", 0, 0}, {"it came later", 50 * s, 0}} {
		st := &Stream{Row: recording.Stream{First: tt.first}, Events: []recording.Event{ended}}
		got := st.Gone(recording.EventStreamEnded, window)
		if len(got) != tt.want || len(got) > 0 && (got[0].Start != window.Start || got[0].End != window.End || got[0].Back) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

// While a stream is refused it does not stand still: its symptom is the refusal. Before it, and after
// it came, it may.
func TestARefusedStreamIsNotFrozenToo(t *testing.T) {
	t.Parallel()
	const s = recording.Time(1e9)
	s0 := &Scene{Window: recording.Interval{Start: 0, End: 30 * s}}
	freeze := func(from, to recording.Time) recording.Event {
		return recording.Event{T: from, End: to, Kind: recording.EventStreamFreeze}
	}
	refused, frame := recording.Event{T: 5 * s, Kind: recording.EventStreamRefused, Attrs: map[string]string{"why": "no such stream"}}, recording.Event{T: 15 * s, Kind: recording.EventStreamFirstFrame}
	for _, tt := range []struct {
		name   string
		st     *Stream
		frozen []recording.Interval
		gone   recording.Time
	}{
		{"refused from then on", &Stream{Events: []recording.Event{refused, freeze(6*s, 0)}, wait: []recording.Interval{{Start: 6 * s, End: 30 * s}}}, nil, 25 * s},
		{"it waited for it before", &Stream{Events: []recording.Event{refused}, wait: []recording.Interval{{Start: 2 * s, End: 30 * s}}}, []recording.Interval{{Start: 2 * s, End: 5 * s}}, 25 * s},
		{"it came, and froze later", &Stream{Events: []recording.Event{refused, frame, freeze(20*s, 24*s)}}, []recording.Interval{{Start: 20 * s, End: 24 * s}}, 10 * s},
	} {
		sym, ok := frozen(s0, tt.st)
		if ok != (tt.frozen != nil) || !reflect.DeepEqual(sym.Active, tt.frozen) {
			t.Errorf("%s: frozen %v, want %v", tt.name, sym.Active, tt.frozen)
		}
		if sym, ok := refusedIn(s0, tt.st); !ok || sym != tt.gone {
			t.Errorf("%s: refused for %v, want %v", tt.name, sym, tt.gone)
		}
	}
}

func refusedIn(s *Scene, st *Stream) (recording.Time, bool) {
	sym, ok := refused(s, st)
	return recording.Time(sym.Amount * 1e9), ok
}

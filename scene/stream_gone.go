package scene

import (
	"cmp"
	"fmt"
	"slices"

	"snag/internal/sorting"
	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// Gone is a time in which a viewer had no stream, and why by the words of whoever ended or refused
// it. Of one that comes back the time ends with its next frame.
type Gone struct {
	recording.Interval
	Kind  string // of the event that began it
	Why   string
	Again string // why it was refused when it was asked for again; "" it was not
	Back  bool
}

// goneFloor is how long a viewer bears to be without: a player that asks again at once shows what it
// still has in hand.
const goneFloor = 1.0 // s

// Gone are the times from an event of a kind until the next frame. A recording that had ended before
// it was asked for gave none, and did not end.
func (st *Stream) Gone(kind string, window recording.Interval) (out []Gone) {
	events := slices.Clone(st.Events)
	sorting.StableBy(events, func(a, b recording.Event) int { return cmp.Compare(a.T, b.T) })
	came, open := false, false
	for _, e := range events {
		switch e.Kind {
		case recording.EventStreamFirstFrame:
			if came = true; open {
				last := &out[len(out)-1]
				last.End, last.Back = min(e.T, window.End), true
			}
			open = false
		case recording.EventStreamEnded, recording.EventStreamRefused:
			why := e.Attrs["why"]
			switch refused := e.Kind == recording.EventStreamRefused; {
			case open && refused && out[len(out)-1].Again == "": // it is over, and asked for again in vain
				out[len(out)-1].Again = why
			case !open && (came || refused || st.Row.First != 0 && st.Row.First <= e.T): // it may have come before the window
				out = append(out, Gone{Interval: recording.Interval{Start: max(e.T, window.Start), End: window.End}, Kind: e.Kind, Why: why})
				open = true
			}
		}
	}
	return slices.DeleteFunc(out, func(g Gone) bool { return g.Kind != kind || g.End <= g.Start })
}

// ended: it had come, and then it was over.
func ended(s *Scene, st *Stream) (Symptom, bool) {
	return st.gone(s, recording.EventStreamEnded, StreamEnded, "ended")
}

// refused: whoever asked for it was not let in.
func refused(s *Scene, st *Stream) (Symptom, bool) {
	return st.gone(s, recording.EventStreamRefused, StreamRefused, "was refused")
}

func (st *Stream) gone(s *Scene, kind, name, verb string) (Symptom, bool) {
	all := st.Gone(kind, s.Window)
	var spans []recording.Interval
	longest := Gone{}
	for _, g := range all {
		spans = append(spans, g.Interval)
		if longest.End == 0 || g.Length(g.End) > longest.Length(longest.End) {
			longest = g
		}
	}
	sum := intervals.Seconds(spans, s.Window.End)
	if sum < goneFloor {
		return Symptom{}, false
	}
	text := fmt.Sprintf("it %s, and came back after %s", verb, units.Lasting(sum))
	switch {
	case len(all) > 1:
		text = fmt.Sprintf("it %s %s, and was away for %s in all, %s at the longest", verb, units.Times(len(all)), units.Lasting(sum), units.Lasting(longest.Length(longest.End).Seconds()))
	case !longest.Back:
		text = fmt.Sprintf("it %s, and was not back %s later, when the recording ended", verb, units.Lasting(sum))
	}
	if longest.Why != "" {
		text += ": " + longest.Why
	}
	if again := longest.Again; again != "" && again != longest.Why {
		text += "; asked for again it was refused: " + again
	}
	return Symptom{Name: name, Active: intervals.Merge(spans, 0), Amount: sum, Unit: "s", Share: min(1, sum/max(s.Window.Length(s.Window.End).Seconds(), 1e-9)), Text: text}, true
}

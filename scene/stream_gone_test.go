package scene

import (
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

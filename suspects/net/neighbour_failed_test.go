package net

import (
	"slices"
	"testing"

	"snag/recording"
	"snag/suspects/measure"
)

// What is dropped when the asking is given up has waited for three seconds, at most since the
// recording began; what finds the queue full has not.
func TestWhatWaitedForANeighbour(t *testing.T) {
	at := func(s float64) recording.Time { return recording.Time(1e9 + s*1e9) }
	window := recording.Interval{Start: at(0), End: at(30)}
	for reason, want := range map[string][]recording.Interval{
		"NEIGH_FAILED":    {{Start: at(0), End: at(3)}, {Start: at(7), End: at(11)}},
		"NEIGH_QUEUEFULL": {{Start: at(2), End: at(3)}, {Start: at(10), End: at(11)}},
	} {
		rows := []recording.Drop{{T: at(2), Reason: reason, N: 3}, {T: at(10), Reason: reason, N: 3}}
		if got := waited(rows, measure.DropSteps(rows), window); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", reason, got, want)
		}
	}
}

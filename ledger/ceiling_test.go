package ledger

import (
	"testing"

	"snag/recording"
)

// Requests wait while as many calls are open as may be; a limit shows in no second with more.
func TestCeiling(t *testing.T) {
	const at = "10.0.0.9:80"
	for _, c := range []struct {
		what    string
		own     []float64 // requests open in each second
		calls   []float64 // and calls
		looks   []uint64  // that were open at its end
		ended   uint64    // calls in a second; 100 answers
		limit   float64
		seconds int
	}{
		{"three at a time, of thirty", []float64{30, 29, 31, 28}, []float64{2.8, 2.9, 2.8, 3}, []uint64{3, 3, 2, 3}, 100, 3, 4},
		{"it ends inside", []float64{30, 30, 30, 5, 6}, []float64{2.8, 2.9, 2.8, 5, 6}, []uint64{3, 3, 3, 5, 6}, 100, 3, 3},
		{"nobody waits", []float64{3, 3, 3, 3}, []float64{2.9, 2.9, 2.9, 2.9}, []uint64{3, 3, 3, 3}, 100, 0, 0},
		{"more at other times", []float64{30, 30, 30, 30}, []float64{2.8, 6, 9, 2}, []uint64{3, 6, 9, 3}, 100, 0, 0},
		{"hardly in use", []float64{30, 30, 30, 30}, []float64{1, 1, 1, 1}, []uint64{3, 3, 3, 3}, 100, 0, 0},
		{"one at a time", []float64{30, 30, 30, 30}, []float64{1, 1, 1, 1}, []uint64{1, 1, 1, 1}, 100, 1, 4},
		{"calls of something else", []float64{30, 30, 30, 30}, []float64{3, 3, 3, 3}, []uint64{3, 3, 3, 3}, 5, 0, 0},
	} {
		d := demand{party: &Party{PIDs: []int{7}, Subject: recording.Subject{Local: "10.0.0.1:80"}, answers: map[int]uint64{}}, seconds: map[int]second{}}
		calls, open, ended := callsOf{}, map[int]uint64{}, map[int]uint64{}
		for i, own := range c.own {
			d.seconds[i] = second{open: own}
			d.party.answers[i] = 100
			calls.add(7, i, at, c.calls[i], 0)
			open[i], ended[i] = c.looks[i], c.ended
		}
		if limit, full, _ := d.ceiling(calls, at, open, ended); limit != c.limit || len(full) != c.seconds {
			t.Errorf("%s: a limit of %g in seconds %v, want %g in %d of them", c.what, limit, full, c.limit, c.seconds)
		}
	}
}

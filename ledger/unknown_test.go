package ledger

import (
	"testing"
	"time"

	"snag/recording"
	"snag/scene"
)

// A service whose HTTP/2 was hardly followed has no figures, however many requests were seen;
// one of which a connection was found in the first second has.
func TestFiguresThatAreNotKnownAreWithheld(t *testing.T) {
	for _, c := range []struct {
		what    string
		missed  []uint64 // of each second
		unknown bool
	}{
		{"all was seen", []uint64{0, 0, 0, 0}, false},
		{"until it was recognised", []uint64{1, 0, 0, 0}, false},
		{"hardly ever", []uint64{1, 3, 0, 1}, true},
	} {
		r := &recording.Recording{}
		r.Manifest.Start = recording.Time(0)
		for i, missed := range c.missed {
			r.Turns = append(r.Turns, recording.Turns{T: r.Manifest.Start.Add(time.Duration(i) * time.Second), Role: "serve", Local: "10.0.0.1:50051", Remote: "10.0.0.2",
				PID: 7, N: 10, Sum: 1, Max: 0.1, Hist: []uint64{10}, Missed: missed})
		}
		l := Build(scene.Build(r), r)
		if got := len(l.Unknown) == 1; got != c.unknown || len(l.Parties)+len(l.Unknown) != 1 {
			t.Errorf("%s: %d parties with figures, %d without", c.what, len(l.Parties), len(l.Unknown))
		}
	}
}

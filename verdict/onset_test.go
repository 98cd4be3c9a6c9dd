package verdict

import (
	"testing"
	"time"

	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
)

// What a process does all the time that it is there began with it, and not with the recording.
func TestOnsetOfAProcessThatCameLater(t *testing.T) {
	t.Parallel()
	start := recording.Time(1_700_000_000_000_000_000)
	at := func(s int) recording.Time { return start.Add(time.Duration(s) * time.Second) }
	r := &recording.Recording{
		Manifest: recording.Manifest{Start: start, End: at(70)},
		Processes: []recording.Process{
			{T: at(0), PID: 7, Comm: "old", Start: at(-100)},
			{T: at(15), PID: 8, Comm: "new", Start: at(14)},
			{T: at(15), PID: 9, Comm: "unknown"},
		},
	}
	s := scene.Build(r)
	for pid, want := range map[int]recording.Time{7: start, 8: at(14), 9: start, 10: start} {
		if got := onset(suspect.Finding{Subject: recording.Subject{PID: pid}}, s); got != want {
			t.Errorf("process %d: since %s, not %s", pid, got, want)
		}
	}
}

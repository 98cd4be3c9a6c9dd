package verdict

import (
	"testing"
	"time"

	"snag/recording"
	"snag/recording/rectest"
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

// On a busy host probes begin late. What they see from then on may have begun before, as the delay that it causes.
func TestACauseThatIsSeenAsSoonAsItsProbeBegan(t *testing.T) {
	t.Parallel()
	for begun, want := range map[int]State{0: Risk, 6: Culprit} {
		written, err := rectest.Load("testdata/cause-since-the-probe-began.txtar")
		if err != nil {
			t.Fatal(err)
		}
		r := written.Recording
		for i := range r.Coverage {
			r.Coverage[i].Since = r.Manifest.Start.Add(time.Duration(begun) * time.Second)
		}
		for _, e := range Judge(r).Entries {
			if e.Suspect.Name == "nagle-delayed-ack" && e.State != want {
				t.Errorf("probes that began after %d s: %s, not %s", begun, e.State, want)
			}
		}
	}
}

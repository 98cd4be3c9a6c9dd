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
	for _, c := range []struct {
		since, tick int // s: when the probes were started, and their first tick
		want        State
	}{{0, 1, Risk}, {6, 7, Culprit}, {0, 7, Culprit}} {
		written, err := rectest.Load("testdata/cause-since-the-probe-began.txtar")
		if err != nil {
			t.Fatal(err)
		}
		r := written.Recording
		at := func(s int) recording.Time { return r.Manifest.Start.Add(time.Duration(s) * time.Second) }
		for i := range r.Coverage {
			r.Coverage[i].Since = at(c.since)
		}
		r.Series = append(r.Series, recording.Series{Name: "snag_probe_late_seconds", Labels: recording.Labels{"probe": "sockets"}, Points: []recording.Point{{T: at(c.tick)}}})
		for _, e := range Judge(r).Entries {
			if e.Suspect.Name == "nagle-delayed-ack" && e.State != c.want {
				t.Errorf("probes that began after %d s, with a tick after %d: %s, not %s", c.since, c.tick, e.State, c.want)
			}
		}
	}
}

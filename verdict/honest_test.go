package verdict

import (
	"strings"
	"testing"
	"time"

	"snag/recording"
	"snag/recording/rectest"
	"snag/suspects/suspect"
)

func quiet(t *testing.T) *recording.Recording {
	t.Helper()
	c, err := rectest.Parse([]byte("All is quiet.\n-- samples --\nnode_netstat_Udp_RcvbufErrors 0 0 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	return c.Recording
}

func entryOf(t *testing.T, r *recording.Recording, name string) Entry {
	t.Helper()
	for _, e := range Judge(r).Entries {
		if e.Suspect.Name == name {
			return e
		}
	}
	t.Fatalf("no entry of %s", name)
	return Entry{}
}

// What a user may not see is not innocent.
func TestAPartialViewDoesNotClear(t *testing.T) {
	r := quiet(t)
	for _, name := range []string{"udp-receive-buffer-full", "listen-overflow"} {
		if e := entryOf(t, r, name); e.State != Cleared {
			t.Fatalf("%s with all measured: %s %s", name, e.State, e.Text)
		}
	}
	r.Add(recording.Coverage{Probe: "host.netstat", State: recording.CoveragePartial,
		Why: "other network namespaces than the own one were not measured", Cure: "run as root, or give the binary CAP_SYS_ADMIN"})
	for _, name := range []string{"udp-receive-buffer-full", "listen-overflow"} {
		e := entryOf(t, r, name)
		if e.State != NotSeen || !strings.Contains(e.Text, "other network namespaces") || !strings.Contains(e.Next, "CAP_SYS_ADMIN") {
			t.Errorf("%s: %s %q, next %q", name, e.State, e.Text, e.Next)
		}
		if len(e.Evidence) == 0 || e.Evidence[0].Side != suspect.Missing {
			t.Errorf("%s: evidence %+v", name, e.Evidence)
		}
	}
	// Losses are another matter: the numbers that were read still speak.
	r.Add(recording.Coverage{Probe: "host.netstat", State: recording.CoveragePartial, Why: "1 of 30 readings failed", Cure: "nice -n -5"})
	if e := entryOf(t, r, "listen-overflow"); e.State != Cleared {
		t.Errorf("with one reading lost: %s", e.State)
	}
}

func TestWhatHappenedIsSaid(t *testing.T) {
	r := quiet(t)
	if w := Judge(r).Warnings; len(w) != 0 {
		t.Fatalf("warnings of a quiet recording: %q", w)
	}
	at := r.Manifest.Start.Add(5e9)
	r.Manifest.Target = recording.Target{PID: 70, PIDs: []int{70, 71}}
	gone := func(pid int) {
		r.Add(recording.Event{T: at, End: at, Kind: recording.EventProcessGone, Subject: recording.Subject{Kind: recording.KindProcess, PID: pid, Comm: "relay"}})
	}
	gone(5) // no business of the target's
	if w := Judge(r).Warnings; len(w) != 0 {
		t.Errorf("another's end: %q", w)
	}
	gone(71)
	r.Add(recording.Event{T: at, End: at, Kind: recording.EventClockStep, Value: 3600, Unit: "seconds"})
	r.Add(recording.Event{T: at, End: at, Kind: recording.EventSuspended, Value: 20, Unit: "seconds"})
	for _, from := range []float64{-20e9, 0.5e9} {
		start := r.Manifest.Start.Add(time.Duration(from))
		r.Add(recording.Event{T: start, End: start.Add(1e9), Kind: recording.EventNotRecorded, Value: 1, Unit: "seconds"})
	}
	all := strings.Join(Judge(r).Warnings, "\n")
	for _, want := range []string{"the machine was suspended for 20 s from about 08:53:25 UTC on", "of these 30 s nothing was recorded for 1.0 s (08:53:20.500–08:53:21.500 UTC): snag record did not run, or the machine was suspended", "1 of the 2 processes to look at ended, the last, relay[71], at " + at.String(), "set by +3600.000 s"} {
		if !strings.Contains(all, want) {
			t.Errorf("warnings lack %q:\n%s", want, all)
		}
	}
	r.Manifest.Target = recording.Target{Netns: "blue", NetnsID: 7}
	r.Add(recording.Event{T: at, End: at, Kind: recording.EventNetnsGone, Subject: recording.Subject{Kind: recording.KindNetns, Netns: 7}})
	if all = strings.Join(Judge(r).Warnings, "\n"); !strings.Contains(all, "blue, went away") {
		t.Errorf("warnings: %s", all)
	}
}

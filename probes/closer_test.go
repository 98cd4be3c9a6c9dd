package probes

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"snag/internal/procroot"
	"snag/probes/probe"
	"snag/probes/probe/probetest"
)

func TestAskTimes(t *testing.T) {
	s := time.Second
	for window, want := range map[time.Duration][]time.Duration{
		3 * s: nil, 4 * s: {2 * s}, 10 * s: {4 * s, 8 * s}, 30 * s: {10 * s, 14 * s, 18 * s, 22 * s, 26 * s},
	} {
		if got := askTimes(window); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", window, got, want)
		}
	}
	if n := len(askTimes(time.Hour)); n != 10 {
		t.Errorf("an hour: asked %d times", n)
	}
}

// TestLookAt: each process once, with the reason of the first time, and no more than
// the probes can take; how many were left is told.
func TestLookAt(t *testing.T) {
	sink := probetest.NewSink()
	env := &probe.Env{Anchor: probe.NewAnchor(), Sink: sink, Closer: probe.NewWatch(64)}
	looked := map[int]bool{}
	if left := lookAt(env, looked, []Look{{PID: 10, Why: "suspected"}, {PID: 11, Why: "suspected"}}); left != 0 {
		t.Errorf("%d left", left)
	}
	var many []Look
	for pid := 10; pid < 30; pid++ {
		many = append(many, Look{PID: pid, Why: "later"})
	}
	left := lookAt(env, looked, many)
	if left != 20-Closest || len(env.Closer.PIDs()) != Closest {
		t.Errorf("%d left, %d looked at", left, len(env.Closer.PIDs()))
	}
	tellLeft(env, left)
	rec := sink.Recording()
	why := map[string]string{}
	for _, f := range rec.Facts {
		if was, twice := why[f.Name]; twice {
			t.Errorf("%s is told twice: %s, %s", f.Name, was, f.Value)
		}
		why[f.Name] = f.Value
	}
	if why["snag.closer.10"] != "suspected" || why["snag.closer.12"] != "later" || why["snag.closer.left"] != fmt.Sprint(20-Closest) || len(why) != Closest+1 {
		t.Errorf("facts %v", why)
	}
}

// TestLookAtAnother: a number that is another's by now is not looked at.
func TestLookAtAnother(t *testing.T) {
	sink := probetest.NewSink()
	env := &probe.Env{Proc: "/proc", Anchor: probe.NewAnchor(), Sink: sink, Closer: probe.NewWatch(64).In("/proc")}
	ticks, err := procroot.StartTime("/proc", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	began := env.Anchor.FromBoottime(int64(ticks) * (1e9 / procroot.UserHZ))
	looked := map[int]bool{}
	lookAt(env, looked, []Look{{PID: os.Getpid(), Start: began.Add(-time.Second)}})
	if !env.Closer.Empty() {
		t.Error("who has the number now is looked at")
	}
	lookAt(env, looked, []Look{{PID: os.Getpid(), Start: began}})
	if !env.Closer.Has(os.Getpid()) || env.Closer.Replaced(os.Getpid()) {
		t.Error("who was meant is not looked at")
	}
}

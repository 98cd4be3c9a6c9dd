package load

import (
	"strings"
	"testing"
	"time"
)

// A thread that waited for a CPU as long as the answers took measured itself.
func TestAThreadThatWaitsForACPU(t *testing.T) {
	t.Parallel()
	r := &Result{Done: 100, Sent: 100, Took: time.Second, Plan: Plan{For: time.Second}, FromSent: newHistogram(), Lag: newHistogram(), Open: 1}
	for range 100 {
		note(r.FromSent, 10*time.Millisecond)
	}
	for delay, want := range map[time.Duration]string{0: "", 100 * time.Millisecond: "", 500 * time.Millisecond: "waited for a CPU for 5 ms per answer, of a mean of 10 ms"} {
		if r.RunDelay = delay; want == "" && r.Honest() != "" || !strings.Contains(r.Honest(), want) {
			t.Errorf("%v: %q", delay, r.Honest())
		}
	}
	if d, known := parseRunDelay([]byte("123456 7890 12\n")); !known || d != 7890 {
		t.Errorf("%v, %v", d, known)
	}
	if _, known := parseRunDelay([]byte("0\n")); known {
		t.Error("a number that is not there")
	}
	if _, known := runDelay(); !known {
		t.Skip("this kernel counts no waiting for a CPU (CONFIG_SCHEDSTATS, CONFIG_SCHED_INFO)")
	}
}

package memory

import (
	"context"
	"os"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

// TestCompaction asks the kernel to compact all memory, which this process then does
// itself.
func TestCompaction(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may compact memory by hand")
	}
	if _, err := os.Stat("/proc/sys/vm/compact_memory"); err != nil {
		t.Skip("this kernel does not compact memory: ", err)
	}
	sink := probetest.NewSink()
	env := &probe.Env{Proc: "/proc", Sys: "/sys", Anchor: probe.NewAnchor(), SelfPID: os.Getpid(), Sink: sink, Notice: func(string) {}}
	r, err := Probe.Start(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	began := time.Now()
	if err := os.WriteFile("/proc/sys/vm/compact_memory", []byte("1"), 0o200); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	r.Stop()
	rec := sink.Recording()
	sum, n := 0.0, 0
	for _, s := range rec.Series {
		if s.Name == "snag_memory_stall_seconds_total" && s.Labels["kind"] == "compaction" {
			sum = s.Points[len(s.Points)-1].V
		}
		if s.Name == "snag_memory_stalls_total" && s.Labels["kind"] == "compaction" {
			n = int(s.Points[len(s.Points)-1].V)
		}
	}
	if n == 0 || sum <= 0 || sum > took.Seconds() {
		t.Errorf("%d compactions of %.6f s, all took %.6f s", n, sum, took.Seconds())
	}
	for _, e := range rec.Events {
		if e.Kind == recording.EventCompaction && e.Subject.PID == os.Getpid() && (e.Value < 0.001 || e.Attrs["status"] == "") {
			t.Errorf("%+v", e)
		}
	}
	if took > 20*time.Millisecond && len(rec.Events) == 0 {
		t.Errorf("%v of compaction left no event", took)
	}
	for _, m := range []string{measureReclaim, measureCompaction} {
		if c, ok := rec.Measured(m); !ok {
			t.Errorf("%s: %+v", m, c)
		}
	}
}

package syscalls

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"snag/probes/probe/probetest"
	"snag/recording"
)

// TestFullMapsAreTold has maps that are far too small: what finds no room is counted,
// said with its number, and the traced program is not disturbed.
func TestFullMapsAreTold(t *testing.T) {
	for _, c := range []struct{ name, mode, why string }{
		{kernelMapThreads, "threads", "calls of threads over the 16384 that have room were counted without their time"},
		{kernelMapCallsA, "fixed", "calls were not counted: the table was full"},
		{kernelMapTargets, "forks", "processes were not followed: there were over 4096"},
	} {
		t.Run(c.name, func(t *testing.T) {
			entries := map[string]uint32{c.name: 2}
			if c.name == kernelMapCallsA {
				entries[kernelMapCallsB] = 2 // the pair
			}
			p := run(t, c.mode)
			sink := probetest.NewSink()
			r, err := startWith(context.Background(), env(t, sink, p.cmd.Process.Pid), entries)
			if err != nil {
				t.Fatal(err)
			}
			p.tell("go")
			r.Stop()
			row := coverageOf(t, sink.Recording(), measureCalls)
			if row.State != recording.CoveragePartial || !strings.Contains(row.Why, c.why) {
				t.Errorf("%s with room for 2: %+v", c.name, row)
			}
		})
	}
	t.Run(kernelMapOperations, func(t *testing.T) {
		p := startProgram(t, exec.Command(uringProgram(t)))
		p.answer()
		sink := probetest.NewSink()
		r, err := startWith(context.Background(), env(t, sink, p.cmd.Process.Pid), map[string]uint32{kernelMapOperations: 8})
		if err != nil {
			t.Fatal(err)
		}
		if l := p.tell("go"); l != "done\n" {
			t.Fatalf("the program says %q", l)
		}
		time.Sleep(100 * time.Millisecond)
		r.Stop()
		rec := sink.Recording()
		row := coverageOf(t, rec, measureUring)
		if row.State != recording.CoveragePartial || row.Lost == 0 || !strings.Contains(row.Why, "that have room in flight have no time") {
			t.Errorf("operations with room for 8: %+v", row)
		}
		// Where completions name their operation, none is missing all the same.
		if n := total(rec, p.cmd.Process.Pid, recording.UringPrefix+"read", -1).N; r.(*running).kernel.uring.complete != completeData && n != 1000 {
			t.Errorf("%d reads counted, want 1000", n)
		}
	})
}

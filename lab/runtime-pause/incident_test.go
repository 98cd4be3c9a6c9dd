package runtimepause

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"snag/internal/gclog"
	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// pause is a line of the JVM's own log: "GC(20) Pause Full (Allocation Failure) 430M->308M(445M) 469.927ms".
var pause = regexp.MustCompile(`Pause Full \(([^)]*)\).* ([0-9.]+)ms`)

func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		time.Sleep(5 * time.Second)
		log, err := os.ReadFile(filepath.Join(s.Dir(), "gc.log"))
		if err != nil {
			t.Fatal(err)
		}
		long, longest := 0, 0.0
		for _, m := range pause.FindAllStringSubmatch(string(log), -1) {
			ms, err := strconv.ParseFloat(m[2], 64)
			if err != nil || m[1] != "Allocation Failure" {
				t.Errorf("a collection %q, %v", m[0], err)
			}
			if longest = max(longest, ms); ms >= 200 {
				long++
			}
		}
		late := worst(s.ProcessOf("client").Printed())
		t.Logf("the JVM's log has %d full collections of 200 ms and more, the longest took %.0f ms; the client waited up to %.0f ms", long, longest, late)
		if (v == lab.Sick) != (long >= 2) {
			t.Errorf("%s: %d long collections", v, long)
		}
		if v == lab.Sick && late < 0.5*longest {
			t.Errorf("the client waited up to %.0f ms only", late)
		}
	})
}

// TestThreadsWaitForMemory: with ZGC nobody stands still for long, and single threads do.
func TestThreadsWaitForMemory(t *testing.T) {
	labtest.Each(t, ZGC, func(t *testing.T, s *lab.Stage, _ lab.Variant) {
		time.Sleep(3 * time.Second)
		log, err := os.ReadFile(filepath.Join(s.Dir(), "gc.log"))
		if err != nil {
			t.Fatal(err)
		}
		var r gclog.Reader
		stalls, stalled, stood := 0, 0.0, 0.0
		threads := map[string]bool{}
		r.Feed(log, func(e *gclog.Event) {
			switch {
			case e.Kind == gclog.Stall && e.Length >= 200*time.Millisecond:
				stalls++
				stalled += e.Length.Seconds()
				threads[e.Thread] = true
			case e.Kind == gclog.Safepoint:
				stood += e.Length.Seconds()
			}
		})
		t.Logf("%d stalls of 200 ms and more of %d threads, %.1f s in all; at safepoints it stopped for %.3f s", stalls, len(threads), stalled, stood)
		if r.Collector() != "ZGC" || stalls < 5 || len(threads) < 3 || stood > stalled/5 {
			t.Errorf("%s: %d stalls of %d threads, %.1f s; safepoints %.1f s", r.Collector(), stalls, len(threads), stalled, stood)
		}
		if late := worst(s.ProcessOf("client").Printed()); late < 150 {
			t.Errorf("the client waited up to %.0f ms only", late)
		}
	})
}

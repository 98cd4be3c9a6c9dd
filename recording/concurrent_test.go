package recording

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Probes write from many goroutines, while the loop flushes and after Close.
func TestManyProbesAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := Create(dir, manifest(), Options{every: time.Millisecond, maxBatch: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	const probes, each = 8, 500
	var wg sync.WaitGroup
	for p := range probes {
		wg.Go(func() {
			l := Labels{"probe": fmt.Sprint(p)}
			for i := range each {
				at := start.Add(time.Duration(i) * time.Millisecond)
				w.Sample(at, "snag_probe_late_seconds", l, float64(i))
				w.Append(Process{T: at, PID: p*each + i})
			}
		})
	}
	wg.Wait()
	var closing sync.WaitGroup
	for range 2 { // a second Close waits and says the same
		closing.Go(func() {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
		closing.Go(func() { w.Append(Drop{T: start, N: 1}) })
	}
	closing.Wait()
	w.Sample(start.Add(time.Minute), "snag_probe_late_seconds", nil, 1)
	r := mustOpen(t, dir)
	wantDamage(t, r)
	if len(r.Processes) != probes*each || len(r.Series) != probes {
		t.Fatalf("%d rows and %d series, want %d and %d", len(r.Processes), len(r.Series), probes*each, probes)
	}
	for _, s := range r.Series {
		if len(s.Points) != each {
			t.Errorf("%s: %d points, want %d", s.Key(), len(s.Points), each)
		}
	}
	for i := 1; i < len(r.Processes); i++ {
		if r.Processes[i].T < r.Processes[i-1].T {
			t.Fatalf("row %d is out of time order", i)
		}
	}
}

package oncpu

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"snag/internal/kernel"
)

// deep burns CPU below a stack of n frames.
//
//go:noinline
func deep(n int, stop *atomic.Bool) int {
	if n > 0 {
		return deep(n-1, stop) + 1
	}
	sum := 0
	for !stop.Load() {
		sum++
	}
	return sum & 1
}

// What the program takes of a sample of a thread with 40 frames, and of the CPU
// that it samples; the timer's interrupt comes on top, some 2 µs. Nobody reads the
// counts meanwhile.
func BenchmarkSample(b *testing.B) {
	if lack := kernel.CanLoad("/proc", "/sys"); lack != nil {
		b.Skip(lack)
	}
	l, err := load("/proc", "/sys", hz, nil, false)
	if err != nil {
		b.Fatal(err)
	}
	defer l.close()
	s, err := newSweeper(l)
	if err != nil {
		b.Fatal(err)
	}
	defer s.close()
	var stop atomic.Bool
	var busy sync.WaitGroup
	for range 2 {
		busy.Go(func() { deep(40, &stop) })
	}
	began := time.Now()
	for b.Loop() {
		time.Sleep(time.Second)
	}
	stop.Store(true)
	busy.Wait()
	if err := s.readTotals(); err != nil {
		b.Fatal(err)
	}
	took := float64(s.totals[totalTime])
	b.ReportMetric(took/float64(s.totals[totalAll]-s.totals[totalIdle]), "ns/sample")
	b.ReportMetric(100*took/float64(time.Since(began))/float64(len(l.events)), "%/cpu")
}

package oncpu

import (
	"os/exec"
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

// What the program takes of a sample, and of the CPU that it samples; the timer's
// interrupt comes on top, some 2 µs. Nobody reads the counts meanwhile. Of a thread with
// 40 frames; and of a program without frame pointers, sorting, of whose stack as many
// words are looked at as ever are.
func BenchmarkSample(b *testing.B) {
	b.Run("40 frames", func(b *testing.B) {
		var stop atomic.Bool
		var busy sync.WaitGroup
		for range 2 {
			busy.Go(func() { deep(40, &stop) })
		}
		benchmarkSample(b)
		stop.Store(true)
		busy.Wait()
	})
	b.Run("no frame pointers", func(b *testing.B) {
		path := compile(b, "p.c", leaves, "gcc", "-O1", "-fomit-frame-pointer", "-pthread", "-Wno-unused-result")
		for range 2 {
			run(b, exec.Command(path, "5"))
		}
		benchmarkSample(b)
	})
}

func benchmarkSample(b *testing.B) {
	b.Helper()
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
	began := time.Now()
	for b.Loop() {
		time.Sleep(time.Second)
	}
	if err := s.readTotals(); err != nil {
		b.Fatal(err)
	}
	took := float64(s.totals[totalTime])
	b.ReportMetric(took/float64(s.totals[totalAll]-s.totals[totalIdle]), "ns/sample")
	b.ReportMetric(100*took/float64(time.Since(began))/float64(len(l.events)), "%/cpu")
}

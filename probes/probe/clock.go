package probe

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"snag/recording"
)

func clock(id int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		return 0 // these clocks exist on every kernel that snag runs on
	}
	return ts.Nano()
}

func monotonic() int64 { return clock(unix.CLOCK_MONOTONIC) }

// NewAnchor reads the clocks together: of a few tries, the one that took least.
func NewAnchor() recording.Anchor {
	var best recording.Anchor
	least := int64(1 << 62)
	for range 5 {
		m1 := monotonic()
		w := clock(unix.CLOCK_REALTIME)
		b := clock(unix.CLOCK_BOOTTIME)
		m2 := monotonic()
		if m2-m1 < least {
			least = m2 - m1
			mid := m1 + (m2-m1)/2
			best = recording.Anchor{Wall: w, Monotonic: mid, Boottime: b}
		}
	}
	return best
}

// ThreadCPU is the CPU time of the calling OS thread, seconds. A probe's
// goroutine that is locked to its thread measures its own cost with it.
func ThreadCPU() float64 { return float64(clock(unix.CLOCK_THREAD_CPUTIME_ID)) / 1e9 }

// Work measures the CPU time of a goroutine that works now and then, seconds. It keeps its thread, whose clock
// is then its own, from Begin to End only: a goroutine that sleeps with a thread of its own costs two switches
// between threads each time it wakes, a third of all that a recorder on a quiet host did.
type Work struct{ spent, mark float64 }

// Begin starts to measure the calling goroutine.
func (w *Work) Begin() {
	runtime.LockOSThread()
	w.mark = ThreadCPU()
}

// End stops measuring. The same goroutine calls it.
func (w *Work) End() {
	w.spent += ThreadCPU() - w.mark
	runtime.UnlockOSThread()
}

// CPU is the time so far. It may be asked between Begin and End.
func (w *Work) CPU() float64 { return w.spent + ThreadCPU() - w.mark }

// During measures each tick.
func (w *Work) During(tick func(late time.Duration)) func(late time.Duration) {
	return func(late time.Duration) {
		w.Begin()
		defer w.End()
		tick(late)
	}
}

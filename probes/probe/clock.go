package probe

import (
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

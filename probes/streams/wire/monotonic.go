package wire

import (
	"time"

	"golang.org/x/sys/unix"
)

// Monotonic is CLOCK_MONOTONIC, ns. It is read as Go reads it, without a call of the
// kernel: unix.ClockGettime makes one, which was a tenth of what reading a stream cost.
func Monotonic() int64 { return origin.ns + int64(time.Since(origin.at)) }

// origin is one moment on both clocks, which run alike: Go's is CLOCK_MONOTONIC too.
var origin = pair()

type moment struct {
	at time.Time
	ns int64
}

// pair reads both clocks, several times: the reading that took the shortest is right to
// within half of that.
func pair() moment {
	var best moment
	least := time.Duration(1 << 62)
	for range 20 {
		var t unix.Timespec
		before := time.Now()
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
			return best // this clock is on every kernel that snag runs on
		}
		if took := time.Since(before); took < least {
			least, best = took, moment{before, t.Nano() - int64(took/2)}
		}
	}
	return best
}

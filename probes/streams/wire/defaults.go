package wire

import (
	"time"

	"golang.org/x/sys/unix"

	"snag/probes/streams/stream"
)

// Defaults fills in what options leave open.
func Defaults(o stream.Options) stream.Options {
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Second
	}
	if o.Now == nil {
		o.Now = Monotonic
	}
	return o
}

// Monotonic is CLOCK_MONOTONIC, ns.
func Monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return t.Nano()
}

package runtimes

import (
	"fmt"

	"snag/internal/kernel"
	"snag/recording"
)

// reasons are Go's for stopping the world (src/runtime/proc.go, stwReasonStrings, since
// Go 1.21).
var reasons = []string{
	"unknown", "GC mark termination", "GC sweep termination", "write heap dump", "goroutine profile",
	"goroutine profile cleanup", "all goroutines stack trace", "read mem stats", "AllThreadsSyscall",
	"GOMAXPROCS", "start trace", "stop trace",
}

// reason is the name of one; "" where this is none that is known.
func reason(n uint64) string {
	if n < uint64(len(reasons)) {
		return reasons[n]
	}
	return ""
}

// stopEvent is a stop of a Go program's world: from when a goroutine stops the others
// until it lets them run.
func (r *running) stopEvent(s golangStop) recording.Event {
	e := recording.Event{
		T: r.env.Anchor.FromMonotonic(int64(s.At)), End: r.env.Anchor.FromMonotonic(int64(s.End)), Kind: recording.EventSafepoint,
		Subject: recording.Subject{Kind: recording.KindProcess, PID: int(s.Pid), Comm: comm(r.env.Proc, int(s.Pid))},
		Value:   float64(s.End-min(s.At, s.End)) / 1e9, Unit: "s", Attrs: map[string]string{"runtime": string(golang)},
	}
	if text := reason(s.Reason); text != "" {
		e.Attrs["operation"] = text
	}
	e.Attrs["asked_by"] = fmt.Sprintf("thread %s[%d]", kernel.Text(s.Comm[:]), s.Tid)
	if f := r.function(int(s.Pid), s.Where); f != "" {
		e.Attrs["asked_by"] = "the program, in " + f
	}
	return e
}

package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"snag/internal/shown"
	"snag/recording"
)

const (
	// strangersHeap, bytes, is what the collector keeps the heap of judge, show and
	// report below: what is read of a recording is bounded so that it is enough.
	strangersHeap = 800 << 20
	// strangersTime is how much CPU time they may take; an honest recording of 40,000
	// sockets takes some seconds.
	strangersTime = 40 * time.Second
)

// bound is called before a stranger's recording is opened. Whoever raises the bounds
// says what memory there is.
func bound(path string) {
	raised := os.Getenv(recording.LimitEnv)
	if os.Getenv("GOMEMLIMIT") == "" && raised == "" {
		debug.SetMemoryLimit(strangersHeap)
	}
	most := strangersTime
	if v, err := strconv.ParseFloat(raised, 64); err == nil && v >= 1 && v <= 1000 {
		most = time.Duration(v * float64(most))
	}
	go endAfter(path, most)
}

// endAfter ends the command when it has taken so much CPU time: some rule may take long
// for rows of which nobody has had so many.
func endAfter(path string, most time.Duration) {
	for began := cpuTime(); cpuTime()-began < most; {
		time.Sleep(200 * time.Millisecond)
	}
	fmt.Fprintf(shown.To(os.Stderr), "snag: %s: judging it took over %s of CPU time, more than any recording of snag's takes: if you trust who made it, %s=4 gives it four times as much\n", path, most, recording.LimitEnv)
	os.Exit(1)
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

package main

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// The recorder runs in the idle I/O class and with low CPU priority (ioprio_set(2), setpriority(2)).
// Both are per thread and inherited by new threads.
const (
	ioprioWhoProcess = 1
	ioprioIdle       = 3 << 13 // IOPRIO_CLASS_IDLE
	lowPriority      = 10      // nice
)

func yieldToOthers() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return // it records with normal priority
	}
	for _, t := range threads {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		_ = unix.Setpriority(unix.PRIO_PROCESS, tid, lowPriority)
		_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ioprioWhoProcess, uintptr(tid), ioprioIdle)
	}
}

// useOneCPU has Go use one CPU at a time, unless GOMAXPROCS says otherwise. The recorder's work is little, and
// spread over its probes: with more CPUs each that wakes looks for another to share the work with, which
// doubles how often a quiet recorder wakes.
func useOneCPU() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}

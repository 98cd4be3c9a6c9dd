package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// What always runs takes the disk when nobody else wants it, and less of the CPU than others
// (ioprio_set(2), setpriority(2)). Both are settings of a thread: new ones have those of the one
// that made them.
const (
	ioprioWhoProcess = 1
	ioprioIdle       = 3 << 13 // IOPRIO_CLASS_IDLE
	lowPriority      = 10      // nice
)

func yieldToOthers() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return // it costs more than it should, and records
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

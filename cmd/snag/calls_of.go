package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"snag/probes/threads"
)

// hasCalls refuses a process that makes no system calls that could be looked at; 0 is
// none.
func hasCalls(proc string, pid int) error {
	if pid == 0 {
		return nil
	}
	if pid == os.Getpid() {
		return fmt.Errorf("look at the system calls of process %d: that is snag itself, which leaves its own out: name another", pid)
	}
	stat, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "stat"))
	if err != nil {
		return fmt.Errorf("look at the system calls of process %d: it has just ended", pid)
	}
	if threads.IsKernelThread(stat) {
		comm, _, _ := threads.ParseStat(stat)
		return fmt.Errorf("look at the system calls of process %d: %s is a thread of the kernel, which makes none: see what it does with snag profile --pid %d", pid, comm, pid)
	}
	return nil
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// use is what processes used: CPU since they began, and MiB of memory
// (Documentation/filesystems/proc.rst): what is resident now (VmRSS), what of it no file
// has (RssAnon), which nobody shares, and the most that was ever resident (VmHWM).
type use struct {
	cpu                     time.Duration
	resident, private, peak float64
}

func (u use) plus(v use) use {
	return use{u.cpu + v.cpu, u.resident + v.resident, u.private + v.private, u.peak + v.peak}
}

// useOf is of a process and its children, with theirs.
func useOf(pid int) (use, error) {
	var t unix.Timespec
	// The clock of a process's CPU time, as clock_getcpuclockid(3) makes it.
	if err := unix.ClockGettime(int32(^pid)<<3|2, &t); err != nil {
		return use{}, fmt.Errorf("CPU time of process %d: %w", pid, err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return use{}, err
	}
	text := string(status)
	if strings.Contains(text, "\nState:\tZ") {
		return use{}, fmt.Errorf("process %d has ended", pid)
	}
	sum := use{time.Duration(t.Nano()), mib(text, "VmRSS"), mib(text, "RssAnon"), mib(text, "VmHWM")}
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return use{}, err
	}
	for _, list := range lists {
		b, _ := os.ReadFile(list) // a thread may have ended
		for _, word := range strings.Fields(string(b)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				return use{}, fmt.Errorf("%s: %q", list, word)
			}
			if u, err := useOf(child); err == nil { // it may have ended
				sum = sum.plus(u)
			}
		}
	}
	return sum, nil
}

// mib is a field of /proc/PID/status in MiB; 0 for one that is not there.
func mib(status, field string) float64 {
	for l := range strings.Lines(status) {
		kib := 0.0
		if n, _ := fmt.Sscanf(l, field+": %f kB", &kib); n == 1 {
			return kib / 1024
		}
	}
	return 0
}

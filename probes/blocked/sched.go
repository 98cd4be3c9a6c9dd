package blocked

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// parseExecStart reads when a thread last ran out of /proc/PID/task/TID/sched
// (kernel/sched/debug.c): "se.exec_start : 36385597.222003", milliseconds on the
// clock of its CPU's run queue, which stands still while the hypervisor or
// interrupts have the CPU (rq_clock_task).
func parseExecStart(b []byte) (seconds float64, ok bool) {
	for _, line := range bytes.Split(b, []byte("\n")) {
		rest, found := bytes.CutPrefix(line, []byte("se.exec_start"))
		if !found {
			continue
		}
		_, value, found := strings.Cut(string(rest), ":")
		if !found {
			return 0, false
		}
		ms, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		return ms / 1e3, err == nil && ms >= 0
	}
	return 0, false
}

// parseCPU reads the CPU that a thread last ran on: field 39 of its stat
// (proc_pid_stat(5)).
func parseCPU(b []byte) (int, bool) {
	n, ok := statField(b, 39)
	return int(n), ok
}

// statField reads a number of a stat by its number in proc_pid_stat(5), 3 the first
// behind the name.
func statField(b []byte, number int) (uint64, bool) {
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) <= number-3 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(fields[number-3]), 10, 31)
	return n, err == nil
}

// slept fills in for how long threads were on no CPU, where the scheduler tells. The
// run queues' clocks differ: each is read through a thread of snag's own that runs on
// that CPU now. It is never too long, as the clocks only ever stand still.
func slept(proc string, stuck []Thread) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var home unix.CPUSet
	if unix.SchedGetaffinity(0, &home) != nil {
		return
	}
	defer func() { _ = unix.SchedSetaffinity(0, &home) }()
	now := map[int]float64{} // by CPU; below 0: it can't be read
	for i := range stuck {
		t := &stuck[i]
		dir := filepath.Join(proc, strconv.Itoa(t.PID), "task", strconv.Itoa(t.TID))
		stat, err1 := os.ReadFile(filepath.Join(dir, "stat"))
		sched, err2 := os.ReadFile(filepath.Join(dir, "sched"))
		if err1 != nil || err2 != nil {
			continue
		}
		cpu, ok1 := parseCPU(stat)
		ran, ok2 := parseExecStart(sched)
		// A thread that is being moved to another CPU has 0 (migrate_task_rq_fair).
		if !ok1 || !ok2 || ran <= 0 {
			continue
		}
		clock, known := now[cpu]
		if !known {
			clock = clockOf(proc, cpu)
			now[cpu] = clock
		}
		if d := clock - ran; clock >= 0 && d >= t.Seconds {
			t.Seconds, t.Exact = d, true
		}
	}
}

// clockOf is the present on a CPU's run queue's clock, seconds; below 0 where it
// can't be read.
func clockOf(proc string, cpu int) float64 {
	var one unix.CPUSet
	one.Set(cpu)
	if unix.SchedSetaffinity(0, &one) != nil {
		return -1
	}
	b, err := os.ReadFile(filepath.Join(proc, fmt.Sprintf("self/task/%d/sched", unix.Gettid())))
	if err != nil {
		return -1
	}
	s, ok := parseExecStart(b)
	if !ok {
		return -1
	}
	return s
}

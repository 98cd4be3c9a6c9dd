package threads

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ParseStat reads a thread's name and state out of /proc/PID/task/TID/stat
// (proc_pid_stat(5)). The name may hold spaces and parentheses: the last one ends it.
func ParseStat(b []byte) (comm, state string, err error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open || len(b) < end+3 || b[end+1] != ' ' {
		return "", "", fmt.Errorf("stat %q: no (name) and state", short(b))
	}
	return string(b[open+1 : end]), string(b[end+2 : end+3]), nil
}

// parseIODelay reads how long a thread waited for disks out of the same file:
// field 42, in clock ticks of 10 ms (proc_pid_stat(5)). False where the file has
// no such field.
func parseIODelay(b []byte) (seconds float64, ok bool) {
	end := bytes.LastIndexByte(b, ')')
	if end < 0 {
		return 0, false
	}
	fields := bytes.Fields(b[end+1:]) // from field 3 on
	if len(fields) < 40 {
		return 0, false
	}
	ticks, err := strconv.ParseUint(string(fields[39]), 10, 64)
	return float64(ticks) / 100, err == nil
}

// call is what a thread is in.
type call struct {
	name  string
	fd    int    // -1 where the call has none
	futex uint64 // address that it waits on
	lock  bool   // it waits for a lock that is taken
}

// Registers is what /proc/PID/task/TID/syscall shows of a thread that waits.
type Registers struct {
	Call   int // the system call's number; -1: it waits outside of any
	Args   [6]uint64
	SP, PC uint64
}

// Compat reports whether the number is of a 32-bit program: exe is its file. The file is
// read only where the stack lies as low as it must then.
func (r Registers) Compat(exe string) bool {
	return r.SP < 1<<32 && r.Call&x32Bit == 0 && isCompat(exe)
}

// ErrRunning reports that the thread was on a CPU, or about to be.
var ErrRunning = errors.New("the thread runs")

// ParseRegisters reads /proc/PID/task/TID/syscall (proc_pid_syscall(5)): "running",
// which is ErrRunning, "-1 SP PC" outside of any call, or the number, six arguments,
// SP and PC.
func ParseRegisters(b []byte) (Registers, error) {
	fields := strings.Fields(string(b))
	if len(fields) == 0 {
		return Registers{}, fmt.Errorf("syscall: empty")
	}
	if fields[0] == running {
		return Registers{}, ErrRunning
	}
	nr, err := strconv.Atoi(fields[0])
	if err != nil {
		return Registers{}, fmt.Errorf("syscall %q: its number: %w", short(b), err)
	}
	r := Registers{Call: nr}
	into := []*uint64{&r.Args[0], &r.Args[1], &r.Args[2], &r.Args[3], &r.Args[4], &r.Args[5], &r.SP, &r.PC}
	if nr == -1 {
		into = into[6:]
	}
	if len(fields) < 1+len(into) {
		return Registers{}, fmt.Errorf("syscall %q: no arguments", short(b))
	}
	for i, v := range into {
		if *v, err = strconv.ParseUint(fields[1+i], 0, 64); err != nil {
			return Registers{}, fmt.Errorf("syscall %q: argument %d: %w", short(b), i+1, err)
		}
	}
	return r, nil
}

// parseSyscall reads what a thread is in out of the same file.
// compat reports whether the program is a 32-bit one.
func parseSyscall(b []byte, names map[int]string, compat func(Registers) bool) (call, error) {
	none := call{fd: -1}
	r, err := ParseRegisters(b)
	switch {
	case errors.Is(err, ErrRunning):
		return call{name: running, fd: -1}, nil
	case err != nil:
		return none, err
	case r.Call == -1:
		return call{name: outside, fd: -1}, nil
	}
	c := call{name: nameOf(names, r.Call), fd: -1}
	if compat(r) {
		c.name = CompatName(r.Call)
	}
	if fd, ok := Descriptor(c.name, r.Args[0]); ok {
		c.fd = fd
	} else if c.name == "futex" {
		c.futex, c.lock = ParseFutex([3]uint64(r.Args[:3]))
	}
	return c, nil
}

// parseWchan reads the function a thread sleeps in; "" where it runs or may not
// be seen, for both of which the kernel writes 0. The compiler's suffixes are
// left off, as in the table of drops.
func parseWchan(b []byte) string {
	name, _, _ := strings.Cut(strings.TrimSpace(string(b)), ".")
	if name == "0" {
		return ""
	}
	return name
}

// parseStack reads the innermost function of /proc/PID/task/TID/stack that is
// not the scheduler's: what wchan would be. Kernels before 5.16 find no wchan
// on amd64 (they follow frame pointers that they are built without).
func parseStack(b []byte) string {
	for _, line := range strings.Split(string(b), "\n") {
		_, name, ok := strings.Cut(line, "] ") // "[<0>] wait_woken+0x6b/0x80"
		if !ok {
			continue
		}
		name, _, _ = strings.Cut(name, "+")
		if name == "" || strings.HasPrefix(strings.TrimLeft(name, "_"), "schedule") || strings.HasPrefix(name, "io_schedule") {
			continue
		}
		name, _, _ = strings.Cut(name, ".")
		return name
	}
	return ""
}

// schedstat is a thread's time on a CPU and waiting for one, seconds, and how
// often it came onto a CPU.
type schedstat struct {
	onCPU, delay float64
	runs         uint64
}

// parseSchedstat reads /proc/PID/task/TID/schedstat, whose times are nanoseconds
// (Documentation/scheduler/sched-stats.rst).
func parseSchedstat(b []byte) (schedstat, error) {
	fields := strings.Fields(string(b))
	if len(fields) < 3 {
		return schedstat{}, fmt.Errorf("schedstat %q: fewer than three fields", short(b))
	}
	var n [3]uint64
	for i := range n {
		var err error
		if n[i], err = strconv.ParseUint(fields[i], 10, 64); err != nil {
			return schedstat{}, fmt.Errorf("schedstat %q: field %d: %w", short(b), i+1, err)
		}
	}
	return schedstat{float64(n[0]) / 1e9, float64(n[1]) / 1e9, n[2]}, nil
}

// parseSwitches reads the context switches out of /proc/PID/task/TID/status:
// the thread gave the CPU up, or it was taken.
func parseSwitches(b []byte) (voluntary, involuntary uint64, err error) {
	if voluntary, err = statusField(b, "\nvoluntary_ctxt_switches:"); err != nil {
		return 0, 0, err
	}
	involuntary, err = statusField(b, "\nnonvoluntary_ctxt_switches:")
	return voluntary, involuntary, err
}

func statusField(b []byte, name string) (uint64, error) {
	i := bytes.LastIndex(b, []byte(name))
	if i < 0 {
		return 0, fmt.Errorf("status: no line %s", strings.TrimSpace(name))
	}
	line, _, _ := bytes.Cut(b[i+len(name):], []byte{'\n'})
	n, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("status: %s %w", strings.TrimSpace(name), err)
	}
	return n, nil
}

// short is the beginning of a text for an error.
func short(b []byte) string { return string(b[:min(len(b), 60)]) }

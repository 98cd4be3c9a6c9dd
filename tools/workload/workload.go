// Package workload has programs that do one thing as often as they can, for the
// benches: each in a process of its own, which reports how often, at what CPU time, and
// how long it was ever kept from it.
package workload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The loads. Each makes raw calls, so that the runtime's own are few.
const (
	Calls    = "getppid loop"
	Socket   = "socketpair, 1 thread"
	PingPong = "TCP ping-pong, 2 processes"
	Futex    = "futex, 2 threads"
	Lock     = "futex, a lock that 8 threads hand on"
	Maps     = "mmap, touch, munmap loop"
)

// oneCPU are the loads that stay on one CPU: else it is by chance whether one side
// finds the other still awake.
var oneCPU = map[string]bool{PingPong: true, Futex: true, Lock: true}

// The variables that tell a process which load it is.
const (
	loadVariable    = "SNAG_BENCH_LOAD"
	addressVariable = "SNAG_BENCH_ADDRESS"
)

// Program is a load in a process of its own, which works when it is told to.
type Program struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// Done is what a program did in a window.
type Done struct {
	N       uint64        // operations
	CPU     time.Duration // of its process alone
	Wall    time.Duration
	Gap     time.Duration // the longest time between two looks at the clock
	Gaps1ms int           // how many were over a millisecond
}

// Start starts a load. The calling program's main must begin with Serve.
func Start(load string) (*Program, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe)
	switch {
	case load == Lock:
		// In the normal class its threads settle in one of two orders, with 0.33 or 0.74
		// involuntary switches an operation at 3.0 or 3.8 µs, and any interruption may
		// change the one for the other: that would be measured, and not what a find costs.
		cmd = exec.Command("chrt", "-f", "1", "taskset", "-c", "0", exe)
	case oneCPU[load]:
		cmd = exec.Command("taskset", "-c", "0", exe)
	}
	cmd.Env = append(os.Environ(), loadVariable+"="+load, "GOMAXPROCS=16") // raw calls keep a P while they wait
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the load %s: %w", load, err)
	}
	p := &Program{cmd, in, bufio.NewReader(out)}
	if _, err = p.out.ReadString('\n'); err != nil {
		return nil, fmt.Errorf("start the load %s: %w", load, err)
	}
	return p, nil
}

// PID is the process that does the work.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// PIDs are all processes of the load.
func (p *Program) PIDs() []int {
	return append([]int{p.PID()}, Children(p.PID())...)
}

// Children are those of a process, as /proc/PID/task/TID/children lists them.
func Children(pid int) (pids []int) {
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // the thread ended
		}
		for _, word := range bytes.Fields(b) {
			if pid, err := strconv.Atoi(string(word)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// Work has it run for so long.
func (p *Program) Work(window time.Duration) (d Done, err error) {
	if _, err = fmt.Fprintln(p.in, window.Nanoseconds()); err != nil {
		return d, err
	}
	_, err = fmt.Fscan(p.out, &d.N, (*int64)(&d.CPU), (*int64)(&d.Wall), (*int64)(&d.Gap), &d.Gaps1ms)
	if err == nil && d.N == 0 {
		err = errors.New("the load did nothing")
	}
	return d, err
}

// RealTime puts every thread of it before all other programs, so that only what stops
// the program itself keeps it from its work, and not another's turn.
func (p *Program) RealTime() error {
	if out, err := exec.Command("chrt", "-a", "-f", "-p", "1", strconv.Itoa(p.PID())).CombinedOutput(); err != nil {
		return fmt.Errorf("real-time priority: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// End ends it.
func (p *Program) End() {
	_ = p.in.Close()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// Serve is the whole life of a process that Start started; it returns false in any
// other.
func Serve() bool {
	load := os.Getenv(loadVariable)
	if load == "" {
		return false
	}
	if err := serve(load); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
	return true
}

func serve(load string) error {
	runtime.LockOSThread()
	op, err := operation(load)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	var ns int64
	for {
		if _, err := fmt.Scan(&ns); err != nil {
			return nil // the end
		}
		gaps, gap := 0, time.Duration(0)
		cpu, before, begin := cpuTime(), op.others(), time.Now()
		last, n := time.Duration(0), uint64(0)
		each := uint64(16) // reading the clock is not to be what is measured
		if load == Maps {
			each = 1 // takes 30 µs itself
		}
		for last < time.Duration(ns) {
			for range each {
				op.once()
			}
			n += each
			now := time.Since(begin)
			gap = max(gap, now-last)
			if now-last > time.Millisecond {
				gaps++
			}
			last = now
		}
		fmt.Println(n+op.others()-before, cpuTime()-cpu, int64(last), int64(gap), gaps)
	}
}

// cpuTime of this process, ns.
func cpuTime() int64 {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // of oneself: can't fail
	return u.Utime.Nano() + u.Stime.Nano()
}

// CPUTime is what the processes have used so far, by /proc/PID/task/TID/schedstat,
// whose first number is ns on a CPU (Documentation/scheduler/sched-stats.rst). Threads
// that have ended are not in it.
func CPUTime(pids ...int) (sum time.Duration, err error) {
	for _, pid := range pids {
		files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
		if len(files) == 0 {
			return 0, fmt.Errorf("read the CPU time of process %d: it has ended, or the kernel has no schedstat", pid)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				continue // the thread ended
			}
			word, _, _ := bytes.Cut(b, []byte(" "))
			ns, err := strconv.ParseInt(string(word), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read %s: %w", f, err)
			}
			sum += time.Duration(ns)
		}
	}
	return sum, nil
}

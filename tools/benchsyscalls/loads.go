package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The loads: each makes as many operations as it can, with raw calls, so that the
// runtime's own are few.
var loads = []string{"getppid loop", "socketpair, 1 thread", "TCP ping-pong, 2 processes", "futex, 2 threads"}

// program is a load in a process of its own, which works when it is told to.
type program struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(load string) (*program, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe)
	if load == loads[2] || load == loads[3] {
		// Both sides on one CPU: else it is by chance whether one finds the other
		// still awake.
		cmd = exec.Command("taskset", "-c", "0", exe)
	}
	cmd.Env = append(os.Environ(), "BENCH_LOAD="+load, "GOMAXPROCS=4") // raw calls keep a P while they wait
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
		return nil, err
	}
	p := &program{cmd, in, bufio.NewReader(out)}
	_, err = p.out.ReadString('\n')
	return p, err
}

// work has it run for so long: operations, CPU and clock in ns, and the longest gap
// between two operations.
func (p *program) work(window time.Duration) (n uint64, cpu, wall, gap float64, err error) {
	if _, err = fmt.Fprintln(p.in, window.Nanoseconds()); err != nil {
		return
	}
	_, err = fmt.Fscan(p.out, &n, &cpu, &wall, &gap)
	return
}

func (p *program) end() {
	_ = p.in.Close()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// serve is the load's process.
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
		var n uint64
		var gap time.Duration
		cpu, begin := cpuTime(), time.Now()
		last := time.Duration(0)
		for last < time.Duration(ns) {
			for range 16 {
				op()
			}
			n += 16
			now := time.Since(begin)
			gap = max(gap, now-last)
			last = now
		}
		fmt.Println(n, float64(cpuTime()-cpu), float64(last), float64(gap))
	}
}

// cpuTime of this process, ns.
func cpuTime() int64 {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // of oneself: can't fail
	return u.Utime.Nano() + u.Stime.Nano()
}

func operation(load string) (func(), error) {
	switch load {
	case loads[0]:
		return func() { unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0) }, nil
	case loads[1]:
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		b := make([]byte, 64)
		return func() {
			rawIO(unix.SYS_WRITE, pair[0], b)
			rawIO(unix.SYS_READ, pair[1], b)
		}, err
	case loads[2]:
		return pingPong()
	case loads[3]:
		return futexes(), nil
	case "echo":
		return nil, echo()
	}
	return nil, errors.New("no such load")
}

func rawIO(call uintptr, fd int, b []byte) {
	unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
}

// pingPong sends a byte to a child and waits for it to come back.
func pingPong() (func(), error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	child := exec.Command(exe)
	child.Env = append(os.Environ(), "BENCH_LOAD=echo", "BENCH_ADDRESS="+l.Addr().String())
	child.Stderr = os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := child.Start(); err != nil {
		return nil, err
	}
	c, err := l.Accept()
	if err != nil {
		return nil, err
	}
	fd, err := blocking(c)
	b := make([]byte, 1)
	return func() {
		rawIO(unix.SYS_WRITE, fd, b)
		rawIO(unix.SYS_READ, fd, b)
	}, err
}

func echo() error {
	c, err := net.Dial("tcp4", os.Getenv("BENCH_ADDRESS"))
	if err != nil {
		return err
	}
	fd, err := blocking(c)
	if err != nil {
		return err
	}
	b := make([]byte, 1)
	for {
		if n, _, _ := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), 1); n != 1 {
			os.Exit(0) // the other end has gone
		}
		rawIO(unix.SYS_WRITE, fd, b)
	}
}

// blocking is the descriptor of a connection without Go's poller.
func blocking(c net.Conn) (int, error) {
	f, err := c.(*net.TCPConn).File()
	if err != nil {
		return 0, err
	}
	fd, err := unix.Dup(int(f.Fd())) // the file is closed by the collector
	if err != nil {
		return 0, err
	}
	return fd, unix.SetNonblock(fd, false)
}

// futexes passes a word to and fro between two threads.
func futexes() func() {
	const wait, wake = 128, 129 // FUTEX_WAIT and FUTEX_WAKE, private
	var word uint32
	call := func(op, value uint32) {
		unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&word)), uintptr(op), uintptr(value), 0, 0, 0)
	}
	turn := func(mine, theirs uint32) {
		for atomic.LoadUint32(&word) != mine {
			call(wait, theirs)
		}
		atomic.StoreUint32(&word, theirs)
		call(wake, 1)
	}
	go func() {
		runtime.LockOSThread()
		for {
			turn(1, 0)
		}
	}()
	return func() { turn(0, 1) }
}

package workload

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// work is what a load does: once, and how often its other threads have done it.
type work struct {
	once   func()
	others func() uint64
}

func operation(load string) (work, error) {
	switch load {
	case Calls:
		return alone(func() { unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0) }), nil
	case Socket:
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		b := make([]byte, 64)
		return alone(func() {
			rawIO(unix.SYS_WRITE, pair[0], b)
			rawIO(unix.SYS_READ, pair[1], b)
		}), err
	case PingPong:
		op, err := pingPong()
		return alone(op), err
	case Futex:
		return alone(futexes()), nil
	case Lock:
		return lockers(8), nil
	case Maps:
		return alone(mapAndTouch), nil
	case "echo":
		return work{}, echo()
	}
	return work{}, fmt.Errorf("no such load: %s", load)
}

func alone(op func()) work {
	return work{op, func() uint64 { return 0 }}
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
	child.Env = append(os.Environ(), loadVariable+"=echo", addressVariable+"="+l.Addr().String())
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
	c, err := net.Dial("tcp4", os.Getenv(addressVariable))
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

// futex(2): FUTEX_WAIT and FUTEX_WAKE, private.
const futexWait, futexWake = 128, 129

func futex(word *uint32, op, value uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), uintptr(op), uintptr(value), 0, 0, 0)
}

// futexes passes a word to and fro between two threads.
func futexes() func() {
	var word uint32
	turn := func(mine, theirs uint32) {
		for atomic.LoadUint32(&word) != mine {
			futex(&word, futexWait, theirs)
		}
		atomic.StoreUint32(&word, theirs)
		futex(&word, futexWake, 1)
	}
	go func() {
		runtime.LockOSThread()
		for {
			turn(1, 0)
		}
	}()
	return func() { turn(0, 1) }
}

// lockers has n threads hand a lock on: whoever has had it lets go, wakes one of those
// that wait, and queues behind the others.
func lockers(n uint32) work {
	var turn uint64
	var others atomic.Uint64
	words := make([]struct {
		word uint32
		_    [60]byte // a cache line each
	}, n)
	words[0].word = 1
	step := func(me uint32) {
		for atomic.LoadUint32(&words[me].word) == 0 {
			futex(&words[me].word, futexWait, 0)
		}
		atomic.StoreUint32(&words[me].word, 0)
		turn++ // what the lock guards
		next := (me + 1) % n
		atomic.StoreUint32(&words[next].word, 1)
		futex(&words[next].word, futexWake, 1)
	}
	for me := uint32(1); me < n; me++ {
		go func() {
			runtime.LockOSThread()
			for {
				step(me)
				others.Add(1)
			}
		}()
	}
	return work{func() { step(0) }, others.Load}
}

// mapAndTouch takes and gives back 64 KiB, which needs the lock on the process' memory
// that a look at its mappings takes too (mmap_lock).
func mapAndTouch() {
	const size = 64 << 10
	at, err := unix.MmapPtr(-1, 0, nil, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return
	}
	b := unsafe.Slice((*byte)(at), size)
	for i := 0; i < size; i += 4096 {
		b[i] = 1
	}
	_ = unix.MunmapPtr(at, size) // just mapped: can't fail
}

package netns

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"golang.org/x/sys/unix"
)

// ErrNotPermitted is why another namespace can't be entered: setns(2) wants
// CAP_SYS_ADMIN over it.
var ErrNotPermitted = errors.New("entering another network namespace is not permitted: run as root, or give the binary CAP_SYS_ADMIN")

// Handle holds a namespace open. It keeps the namespace alive: close it as soon
// as the namespace has no process and no name, or its interfaces would outlive
// their owner.
type Handle struct {
	Namespace
	fd int
}

// Open opens a namespace and checks that its path still means that namespace. The error of one
// that has ended is fs.ErrNotExist.
func Open(n Namespace) (*Handle, error) {
	fd, err := unix.Open(n.Path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
			return nil, fmt.Errorf("open network namespace %s: %w", n.Path, ErrNotPermitted)
		}
		return nil, fmt.Errorf("open network namespace %s: %w", n.Path, err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Ino != n.ID {
		unix.Close(fd)
		return nil, fmt.Errorf("open network namespace %s: it is no longer namespace %d: %w", n.Path, n.ID, fs.ErrNotExist)
	}
	return &Handle{n, fd}, nil
}

// FD is the open descriptor of the namespace.
func (h *Handle) FD() int { return h.fd }

// Close lets go of the namespace.
func (h *Handle) Close() error {
	if h.fd < 0 {
		return nil
	}
	err := unix.Close(h.fd)
	h.fd = -1
	return err
}

// Do runs f inside the namespace, on an OS thread of its own. Sockets that f
// opens stay in the namespace; goroutines that f starts do not. /proc/net and
// /proc/self are the own namespace's even inside f: use /proc/thread-self.
func (h *Handle) Do(f func() error) error { return do(h.fd, setns, f) }

func setns(fd int) error { return unix.Setns(fd, unix.CLONE_NEWNET) }

// do takes the system call as a parameter so that a failing return can be tested.
func do(fd int, enter func(int) error, f func() error) error {
	done := make(chan error, 1)
	go onThread(fd, enter, f, done)
	return <-done
}

func onThread(fd int, enter func(int) error, f func() error, done chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		// Never the main thread: /proc/self and /proc/net show its namespace to
		// the whole process, and it can't be left to die. While it is held here
		// the other goroutine gets another thread.
		inner := make(chan error, 1)
		go onThread(fd, enter, f, inner)
		err := <-inner
		runtime.UnlockOSThread()
		done <- err
		return
	}
	home, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		runtime.UnlockOSThread()
		done <- fmt.Errorf("open the own network namespace: %w", err)
		return
	}
	defer unix.Close(home)
	if err := enter(fd); err != nil {
		runtime.UnlockOSThread()
		if errors.Is(err, unix.EPERM) {
			err = ErrNotPermitted
		}
		done <- fmt.Errorf("enter network namespace: %w", err)
		return
	}
	err = f()
	if enter(home) == nil {
		runtime.UnlockOSThread()
	} // else the goroutine ends locked, and the runtime ends its thread with it
	done <- err
}

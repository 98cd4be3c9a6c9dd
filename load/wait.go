package load

import (
	"errors"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poller waits for sockets to a microsecond: epoll_wait(2) and Go's own timers round to
// milliseconds, which is more than many an answer takes.
type poller struct {
	fd     int
	events []unix.EpollEvent
	old    bool // the kernel has no epoll_pwait2 (before 5.11)
	seen   bool // Go's scheduler knows of each wait
	// Of a poller that parks (parked.go); nil: the thread waits itself.
	file *os.File
	conn syscall.RawConn
}

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	// Timers of this thread end when they are due, not up to 50 µs later (prctl(2)).
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // a coarser timer is measured as lag
	return &poller{fd: fd, events: make([]unix.EpollEvent, 256)}, nil
}

func (p *poller) close() {
	if p.file != nil {
		_ = p.file.Close()
		return
	}
	_ = unix.Close(p.fd)
}

// add watches a socket for changes (edge-triggered): each change is reported once. room: also when there is
// room again for what it is to send. Each datagram that leaves a socket is such a change (sock_wfree in
// net/core/sock.c), so that of those it is asked for only once there was none.
func (p *poller) add(fd, number int, room bool) error {
	return p.watch(unix.EPOLL_CTL_ADD, fd, number, room)
}

// renumber has a socket that is watched reported under another number. What can be read on it now is reported again.
func (p *poller) renumber(fd, number int) error {
	return p.watch(unix.EPOLL_CTL_MOD, fd, number, true)
}

// addRoom has a socket that is watched report room as well.
func (p *poller) addRoom(fd, number int) error {
	return p.watch(unix.EPOLL_CTL_MOD, fd, number, true)
}

func (p *poller) watch(op, fd, number int, room bool) error {
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET&0xffffffff, Fd: int32(number)}
	if room {
		e.Events |= unix.EPOLLOUT
	}
	return unix.EpollCtl(p.fd, op, fd, &e)
}

// mostUnseen is how long a call waits at most that Go's scheduler does not know of. One that it knows of, and that
// takes longer than some 20 µs, costs two switches to other threads, which look for something else to do: a quarter of
// what a request costs at 10,000 per second. A collection of garbage waits as long, and so would a server of this
// process (poller.seen).
const mostUnseen = 2 * time.Millisecond

// wait returns what changed, within d.
func (p *poller) wait(d time.Duration) ([]unix.EpollEvent, error) {
	if p.file != nil {
		return p.park(d)
	}
	t := unix.NsecToTimespec(max(d, 0).Nanoseconds())
	if !p.old {
		call := unix.Syscall6
		if d <= mostUnseen && !p.seen {
			call = unix.RawSyscall6
		}
		n, _, errno := call(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events[0])), uintptr(len(p.events)), uintptr(unsafe.Pointer(&t)), 0, 0)
		switch errno {
		case 0:
			return p.events[:n], nil
		case unix.EINTR:
			return nil, nil
		case unix.ENOSYS:
			p.old = true
		default:
			return nil, errno
		}
	}
	if _, err := unix.Ppoll([]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}, &t, nil); err != nil && !errors.Is(err, unix.EINTR) {
		return nil, err
	}
	n, err := unix.EpollWait(p.fd, p.events, 0)
	if err != nil {
		if errors.Is(err, unix.EINTR) {
			return nil, nil
		}
		return nil, err
	}
	return p.events[:n], nil
}

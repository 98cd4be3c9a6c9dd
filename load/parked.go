package load

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A Client waits as other Go programs do: parked in the runtime's own poller. Where a thread waits in a system call
// instead, Go's scheduler is woken with it (sysmon in runtime/proc.go), which at low rates takes more CPU than the
// requests do: 0.2 ms for each wait. The price is that the runtime rounds waits up to a millisecond, as it does for
// any Go program; for a load that would be lag.

// newParked is a poller that waits in this way.
func newParked() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil { // else os.NewFile does not give it to the runtime's poller
		_ = unix.Close(fd)
		return nil, err
	}
	p := &poller{fd: fd, events: make([]unix.EpollEvent, 256), file: os.NewFile(uintptr(fd), "epoll")}
	if p.conn, err = p.file.SyscallConn(); err != nil {
		p.close()
		return nil, fmt.Errorf("wait for sockets: %w", err)
	}
	return p, nil
}

// park returns what changed, within d.
func (p *poller) park(d time.Duration) ([]unix.EpollEvent, error) {
	var n int
	var failed error
	look := func(uintptr) bool {
		n, failed = unix.EpollWait(p.fd, p.events, 0)
		if errors.Is(failed, unix.EINTR) {
			n, failed = 0, nil
		}
		return n > 0 || failed != nil
	}
	if d <= 0 { // the runtime does not look at all when the time is over
		look(0)
		return p.events[:max(n, 0)], failed
	}
	err := p.file.SetReadDeadline(time.Now().Add(d))
	if err == nil {
		err = p.conn.Read(look)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, nil
	}
	return p.events[:max(n, 0)], errors.Join(err, failed)
}

package pace

import (
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"snag/probes/streams/wire"
)

// ticker waits for the multiples of a period on the monotonic clock, by a timer of the
// kernel that Go's poller waits for as for a socket (timerfd_create(2)). A timer of Go
// wakes this process three times: the poller waits in whole milliseconds, so twice, and
// the runtime's own monitor (sysmon) waits for the same moment.
type ticker struct {
	file   *os.File
	raw    syscall.RawConn
	period time.Duration
	next   int64 // the multiple that is waited for, monotonic ns
}

func newTicker(period time.Duration) (*ticker, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a timer: %w (may this process have more open files? ulimit -n)", err)
	}
	t := &ticker{file: os.NewFile(uintptr(fd), "timer"), period: period, next: Next(wire.Monotonic(), period)}
	if t.raw, err = t.file.SyscallConn(); err == nil {
		at := unix.ItimerSpec{Value: unix.NsecToTimespec(t.next), Interval: unix.NsecToTimespec(int64(period))}
		err = unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME, &at, nil)
	}
	if err != nil {
		t.close()
		return nil, fmt.Errorf("set a timer to %s: %w", period, err)
	}
	return t, nil
}

// wait returns once the next multiple has come, and again only for one after it; false:
// the ticker was closed.
func (t *ticker) wait() bool {
	for {
		if t.raw.Read(expired) != nil {
			return false
		}
		if next, came := following(wire.Monotonic(), t.next, t.period); came {
			t.next = next
			return true
		}
	}
}

// following is the multiple after the one that was waited for, next, now that the timer
// expired; came is false where that was for one before it, which was given already. The
// clocks differ by some microseconds: the multiple may seem to be to come.
func following(now, next int64, period time.Duration) (_ int64, came bool) {
	if next-now > int64(period)/2 {
		return next, false
	}
	return Next(max(now, next), period), true
}

// expired reads how often the timer expired, without which it would not do so again. The
// read can't block, so Go's scheduler need not know of it: what it does for a call that
// may block is more than the call.
func expired(fd uintptr) bool {
	var times uint64
	_, _, errno := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&times)), unsafe.Sizeof(times))
	return errno == 0
}

func (t *ticker) close() { _ = t.file.Close() } // nothing was written

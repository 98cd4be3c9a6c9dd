package trial

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"snag/load"
	"snag/load/elimination"
	"snag/load/protocol"
)

// talk is one socket over which datagrams go to the service. Answers are counted, not matched with their
// requests: each request has one.
type talk struct {
	c                 net.Conn
	asks              protocol.Conversation
	number            int64
	sent              int
	answered, refused atomic.Int64
	done              chan struct{}
}

// roomHere is the receive buffer of snag's own socket, bytes: more than all answers of a burst.
const roomHere = 4 << 20

func (t *trial) talk(ctx context.Context, to load.Target) (*talk, error) {
	if s, ok := to.Protocol.New().(protocol.Silent); ok && s.Silent() {
		return nil, errors.New("no answers are awaited (--reply 0)")
	}
	c, err := t.Options.Dial(ctx, "udp", t.live.String())
	if err != nil {
		return nil, err
	}
	one := &talk{c: c, asks: to.Protocol.New(), done: make(chan struct{})}
	_ = one.control(func(fd int) error { // what it gets without is what others have as well
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, roomHere) == nil {
			return nil
		}
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, roomHere)
	})
	go one.read()
	return one, nil
}

func (o *talk) control(do func(fd int) error) error {
	u, ok := o.c.(*net.UDPConn)
	if !ok {
		return errors.New("not a UDP socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	return errors.Join(raw.Control(func(fd uintptr) { set = do(int(fd)) }), set)
}

// read counts answers, and the ICMP messages that the kernel reports as errors of the socket.
func (o *talk) read() {
	defer close(o.done)
	b := make([]byte, 1<<16)
	for {
		switch _, err := o.c.Read(b); {
		case err == nil:
			o.answered.Add(1)
		case errors.Is(err, unix.ECONNREFUSED):
			o.refused.Add(1)
		case errors.Is(err, net.ErrClosed):
			return
		default: // another ICMP message: nothing more is known
			time.Sleep(time.Millisecond)
		}
	}
}

// send sends one datagram. A write reports what ICMP said of an earlier one, and then sends nothing.
func (o *talk) send() error {
	for range 2 {
		o.number++
		_, err := o.c.Write(o.asks.Ask(o.number)[0])
		switch {
		case errors.Is(err, unix.ECONNREFUSED):
			o.refused.Add(1)
			continue
		case errors.Is(err, unix.ENOBUFS), errors.Is(err, unix.EAGAIN): // it is lost here
		case err != nil:
			return err
		}
		break
	}
	o.sent++
	return nil
}

// await waits until each has its answer, or for so long.
func (o *talk) await(ctx context.Context, d time.Duration) {
	for until := time.Now().Add(d); time.Now().Before(until) && ctx.Err() == nil && int(o.answered.Load()) < o.sent; {
		time.Sleep(time.Millisecond)
	}
}

func (o *talk) close() {
	o.c.Close()
	<-o.done
}

// tried is what came of it.
func (o *talk) tried() elimination.Tried {
	return elimination.Tried{N: o.sent, Answered: min(o.sent, int(o.answered.Load()))}
}

// dropped are the answers that this socket had no room for (SO_MEMINFO, since Linux 4.13).
func (o *talk) dropped() (n int) {
	_ = o.control(func(fd int) error { // an old kernel reports none
		var info [9]uint32
		size := uint32(unsafe.Sizeof(info))
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO, uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
		if errno != 0 {
			return errno
		}
		n = int(info[8]) // SK_MEMINFO_DROPS (include/uapi/linux/sock_diag.h)
		return nil
	})
	return n
}

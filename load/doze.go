package load

import (
	"io"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"snag/load/protocol"
)

// A load that sends often sleeps until its next request is due, and reads after it has sent that what came meanwhile:
// a request and an answer wake it once, not twice. When an answer came is the kernel's timestamp (SO_TIMESTAMPNS), and
// not when it was read.

// mostDoze is how long an answer may lie unread for that.
const mostDoze = 250 * time.Microsecond

// mayDoze reports whether the kernel's timestamp of what is read last is that of the answer: one request is open at
// most, and nothing lies between the socket and its answers.
func mayDoze(p Plan) bool {
	_, wrapped := p.Target.Protocol.(protocol.Login)
	return p.Rate > 0 && p.Client == nil && !p.Target.near && !p.Spin && !p.PingPong && p.Streams <= 1 && p.Bandwidth == 0 && !wrapped
}

// doze returns what came until now or, if nothing did, sleeps until the next request is due.
func (r *run) doze(d time.Duration) ([]unix.EpollEvent, error) {
	events, err := r.poll.wait(0)
	if err != nil || len(events) > 0 {
		r.clock()
		return events, err
	}
	began := r.now
	t := unix.NsecToTimespec(d.Nanoseconds())
	// One that a signal ends is short. Raw, as in poller.wait.
	_, _, _ = unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&t)), 0, 0, 0)
	r.clock()
	r.waited += r.now - began
	return nil, nil
}

// stamped is the memory of a recvmsg(2) with the kernel's timestamp.
type stamped struct {
	msg     unix.Msghdr
	iov     unix.Iovec
	control [8]uint64 // aligned as a cmsghdr
}

// receive is conn.receive with the time at which what was read came: since the epoch, ns; 0: not known.
func (r *run) receive(c *conn) (n int, came int64, err error) {
	if !r.dozes {
		n, err = c.receive(r.buf)
		return n, 0, err
	}
	s := &r.stamped
	s.iov.Base = unsafe.SliceData(r.buf)
	s.iov.SetLen(len(r.buf))
	s.msg = unix.Msghdr{Iov: &s.iov, Control: (*byte)(unsafe.Pointer(&s.control))}
	s.msg.SetIovlen(1)
	s.msg.SetControllen(int(unsafe.Sizeof(s.control)))
	got, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(c.fd), uintptr(unsafe.Pointer(&s.msg)), 0)
	if errno != 0 {
		return -1, 0, errno
	}
	if n = int(got); n == 0 && !c.datagrams {
		return 0, 0, io.EOF
	}
	return n, s.at(), nil
}

func (s *stamped) at() int64 {
	h := (*unix.Cmsghdr)(unsafe.Pointer(&s.control))
	if s.msg.Controllen < uint64(unix.SizeofCmsghdr+unsafe.Sizeof(unix.Timespec{})) || h.Level != unix.SOL_SOCKET || h.Type != unix.SCM_TIMESTAMPNS {
		return 0
	}
	t := (*unix.Timespec)(unsafe.Pointer(&s.control[unix.SizeofCmsghdr/8]))
	return t.Nano()
}

// arrived is when something came that was read just now, after the start: no sooner than the request was sent. Of a
// time that is not known it is now.
func (r *run) arrived(c *conn, came int64) time.Duration {
	if came == 0 {
		return r.now
	}
	now := time.Now()
	at := now.Sub(r.began) - time.Duration(now.UnixNano()-came)
	return min(max(at, c.sent), r.now)
}

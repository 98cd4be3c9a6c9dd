package rtmp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"snag/probes/streams/pace"
	"snag/probes/streams/stream"
)

// A buffer is held only while a connection is read, so few serve many streams.
const bufferSize = 64 << 10

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// mostReads bounds how many full buffers are read in a row, so that a server that
// sends without end does not keep the others' goroutines waiting.
const mostReads = 64

// mostUnsent is how much of snag's own may wait for a server that does not read.
const mostUnsent = 64 << 10

// closed is how the end of a connection is told.
func closed(err error) string {
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed by the server"
	case errors.Is(err, syscall.ECONNRESET):
		return "connection reset by the server"
	case errors.Is(err, syscall.ETIMEDOUT):
		return "connection lost: the server's host does not answer any more"
	}
	return "connection lost: " + err.Error()
}

// readPlain reads what is there at each tick. The descriptor is taken out of the
// runtime's poller: it would be woken for each packet, which is most of what a
// stream costs.
func readPlain(ctx context.Context, tcp *net.TCPConn, s *session, o stream.Options) error {
	if o.Every <= 0 {
		return readAtOnce(ctx, tcp, s, o)
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return fmt.Errorf("read %s: take the socket: %w", s.to.Shown, err)
	}
	fd := -1
	if e := raw.Control(func(own uintptr) { fd, err = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0) }); e != nil || err != nil {
		return fmt.Errorf("read %s: take the socket: %w", s.to.Shown, errors.Join(e, err))
	}
	defer unix.Close(fd)
	tcp.Close()
	pacer := stream.Pace(s.sink)
	turn := func(next int64) error {
		pacer.Wakes(o.Now())
		if _, err := s.drain(fd, o.Now); err != nil {
			return err
		}
		pacer.Sleeps(next)
		return nil
	}
	if err := turn(pace.Next(o.Now(), o.Every)); err != nil {
		return err
	}
	return pace.Each(ctx, o.Every, turn)
}

// drain reads what fd has, and sends what has to go out; some is false where
// there was nothing.
func (s *session) drain(fd int, now func() int64) (some bool, err error) {
	buf := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buf)
	for range mostReads {
		n, err := readNow(fd, buf[:])
		if errors.Is(err, unix.EAGAIN) {
			break
		}
		if err != nil || n == 0 {
			return some, s.ended(closed(err))
		}
		some = true
		if err := s.feed(buf[:n], now()); err != nil {
			return some, err
		}
		if n < len(buf) {
			break // that was all
		}
	}
	if len(s.Out) == 0 {
		return some, nil
	}
	return some, s.flush(func(b []byte) (int, error) {
		n, err := unix.SendmsgN(fd, b, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		if err == unix.EAGAIN || err == unix.EINTR {
			return 0, nil
		}
		return n, err
	})
}

// readNow takes what a socket has. It never blocks, so Go's scheduler need not know of
// it: what it does before and after a call that may block is more than the call.
func readNow(fd int, b []byte) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// flush sends what it can of out.
func (s *session) flush(send func([]byte) (int, error)) error {
	if len(s.Out) == 0 {
		return nil
	}
	n, err := send(s.Out)
	if err != nil {
		return s.ended(closed(err))
	}
	s.Out = append(s.Out[:0], s.Out[n:]...)
	if len(s.Out) > mostUnsent {
		return s.ended("the server does not read what it asked for")
	}
	return nil
}

// readAtOnce reads as data come. It waits without a buffer.
func readAtOnce(ctx context.Context, tcp *net.TCPConn, s *session, o stream.Options) error {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return fmt.Errorf("read %s: take the socket: %w", s.to.Shown, err)
	}
	stop := context.AfterFunc(ctx, func() { tcp.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	for {
		var fed error
		err := raw.Read(func(fd uintptr) (some bool) {
			some, fed = s.drain(int(fd), o.Now)
			return some || fed != nil
		})
		switch {
		case ctx.Err() != nil:
			return nil
		case fed != nil:
			return fed
		case err != nil:
			return s.ended(closed(err))
		}
	}
}

// paced lets TLS read the connection at each tick only.
type paced struct {
	net.Conn
	every time.Duration // 0: as data come
	done  <-chan struct{}
	timer *time.Timer
	pacer stream.Pacer
	now   func() int64
	full  bool // the last read gave all that was asked for: there may be more
}

func (p *paced) Read(b []byte) (int, error) {
	if p.every > 0 && !p.full {
		now := p.now()
		next := pace.Next(now, p.every)
		p.pacer.Sleeps(next)
		p.timer.Reset(time.Duration(next - now))
		select {
		case <-p.done:
			return 0, os.ErrDeadlineExceeded
		case <-p.timer.C:
		}
		p.pacer.Wakes(p.now())
	}
	n, err := p.Conn.Read(b)
	p.full = n == len(b)
	return n, err
}

// readSecure reads RTMPS. Its buffer is held all the time, and small.
func readSecure(ctx context.Context, conn *connection, s *session, o stream.Options) error {
	stop := context.AfterFunc(ctx, func() { conn.tcp.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	conn.paced.timer = time.NewTimer(time.Hour)
	defer conn.paced.timer.Stop()
	conn.paced.every, conn.paced.done = o.Every, ctx.Done()
	conn.paced.pacer, conn.paced.now = stream.Pace(s.sink), o.Now
	buf := make([]byte, 4<<10)
	for {
		n, err := conn.Read(buf)
		if ctx.Err() != nil {
			return nil
		}
		if n > 0 {
			if err := s.feed(buf[:n], o.Now()); err != nil {
				return err
			}
			if err := s.flush(s.within(conn)); err != nil {
				return err
			}
		}
		if err != nil {
			return s.ended(closed(err))
		}
	}
}

// within sends with a deadline: TLS can't send a part and come back.
func (s *session) within(conn *connection) func([]byte) (int, error) {
	return func(b []byte) (int, error) {
		conn.tcp.SetWriteDeadline(time.Now().Add(defaultTimeout))
		return conn.Write(b)
	}
}

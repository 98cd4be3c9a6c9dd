package load

import (
	"errors"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// wire is what a connection of TLS reads and writes through. While the handshake runs it waits, as any
// connection of Go does. Afterwards it belongs to the load's thread and never waits: a read with
// nothing there fails with errAgain, which crypto/tls takes as temporary, and what the socket does
// not take is kept.
type wire struct {
	net.Conn // until detach
	fd       int
	mine     bool // detached: fd counts
	out      []byte
}

type again struct{}

func (again) Error() string   { return "nothing to read now" }
func (again) Timeout() bool   { return true }
func (again) Temporary() bool { return true }

var errAgain error = again{}

// Read implements net.Conn.
func (w *wire) Read(b []byte) (int, error) {
	if !w.mine {
		return w.Conn.Read(b)
	}
	for {
		n, err := unix.Read(w.fd, b)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return 0, errAgain
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// Write implements net.Conn.
func (w *wire) Write(b []byte) (int, error) {
	if !w.mine {
		return w.Conn.Write(b)
	}
	w.out = append(w.out, b...)
	return len(b), w.flush()
}

// flush sends what is kept, as far as the socket takes it.
func (w *wire) flush() error {
	for len(w.out) > 0 {
		n, err := unix.Write(w.fd, w.out)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		}
		w.out = w.out[n:]
	}
	w.out = nil
	return nil
}

// SetDeadline implements net.Conn. Afterwards nothing waits, so that there is none.
func (w *wire) SetDeadline(t time.Time) error {
	if w.mine {
		return nil
	}
	return w.Conn.SetDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (w *wire) SetReadDeadline(t time.Time) error {
	if w.mine {
		return nil
	}
	return w.Conn.SetReadDeadline(t)
}

// SetWriteDeadline implements net.Conn.
func (w *wire) SetWriteDeadline(t time.Time) error {
	if w.mine {
		return nil
	}
	return w.Conn.SetWriteDeadline(t)
}

// detach takes the socket away from Go's own poller: its descriptor belongs to the caller.
func (w *wire) detach() error {
	raw, err := w.Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return err
	}
	var dup error
	err = raw.Control(func(fd uintptr) {
		w.fd, dup = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err = errors.Join(err, dup, w.Close()); err != nil {
		return err
	}
	w.mine = true
	return nil
}

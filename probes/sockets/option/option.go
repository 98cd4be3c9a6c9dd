// Package option reads the options of another process' socket: it takes a copy
// of the descriptor (pidfd_getfd(2), since Linux 5.6, 20–47 µs), asks it and
// closes it. The socket itself is not changed.
package option

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// ErrNotPermitted is that the process may not be traced by us.
var ErrNotPermitted = errors.New("run as root, or give the binary CAP_SYS_PTRACE")

// ErrNoCall is that the kernel has no pidfd_getfd(2).
var ErrNoCall = errors.New("use a kernel from 5.6 on")

// Read reads the options of the socket that ref names. inode guards against a
// descriptor that has been used again since it was found.
func Read(ref recording.FDRef, inode uint64, isTCP bool) (*recording.SocketOptions, error) {
	pidfd, err := unix.PidfdOpen(ref.PID, 0)
	if err != nil {
		return nil, fmt.Errorf("open process %d to read its socket's options: %w", ref.PID, err)
	}
	defer unix.Close(pidfd)
	fd, err := unix.PidfdGetfd(pidfd, ref.FD, 0)
	if err != nil {
		switch {
		case errors.Is(err, unix.EPERM):
			err = ErrNotPermitted
		case errors.Is(err, unix.ENOSYS):
			err = ErrNoCall
		}
		return nil, fmt.Errorf("copy descriptor %d of process %d: %w", ref.FD, ref.PID, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Ino != inode {
		return nil, fmt.Errorf("descriptor %d of process %d is another socket by now", ref.FD, ref.PID)
	}
	return read(fd, isTCP), nil
}

func read(fd int, isTCP bool) *recording.SocketOptions {
	o := &recording.SocketOptions{}
	o.RcvBuf, _ = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	o.SndBuf, _ = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err == nil {
		on := flags&unix.O_NONBLOCK != 0
		o.NonBlock = &on
	}
	if isTCP {
		o.NoDelay = flag(fd, unix.TCP_NODELAY)
		o.Cork = flag(fd, unix.TCP_CORK)
		o.QuickAck = flag(fd, unix.TCP_QUICKACK)
	}
	return o
}

func flag(fd, name int) *bool {
	v, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, name)
	if err != nil {
		return nil
	}
	on := v != 0
	return &on
}

package load

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// SocketOptions are set on each connection before it is made. Nil: as the kernel has it.
type SocketOptions struct {
	NoDelay, QuickAck         *bool
	SendBuffer, ReceiveBuffer int // bytes; 0: as the kernel has it
	Congestion                string
	BusyPoll                  int // µs
	MaxSegment                int // TCP_MAXSEG, bytes, of both directions; 0: as the path's MTU has it
	CPU                       int // the thread stays on it; −1: anywhere
}

// Set sets them on a socket that is not connected yet.
func (o SocketOptions) Set(fd int, network string) error {
	var errs []error
	try := func(name string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("set %s: %w", name, err))
		}
	}
	if network == "tcp" {
		if o.NoDelay != nil {
			try("TCP_NODELAY", unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, one(*o.NoDelay)))
		}
		if o.MaxSegment > 0 {
			try("TCP_MAXSEG", unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG, o.MaxSegment))
		}
		if o.Congestion != "" {
			err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, o.Congestion)
			if err != nil {
				err = fmt.Errorf("%w: choose one of sysctl net.ipv4.tcp_allowed_congestion_control (--congestion); as root also of tcp_available_congestion_control", err)
			}
			try("TCP_CONGESTION "+o.Congestion, err)
		}
	}
	if o.SendBuffer > 0 {
		try("SO_SNDBUF", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, o.SendBuffer))
	}
	if o.ReceiveBuffer > 0 {
		try("SO_RCVBUF", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, o.ReceiveBuffer))
	}
	if o.BusyPoll > 0 {
		try("SO_BUSY_POLL", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BUSY_POLL, o.BusyPoll))
	}
	return errors.Join(errs...)
}

// quick sets TCP_QUICKACK, which the kernel takes back by itself: after each read again.
func (o SocketOptions) quick(fd int) {
	if o.QuickAck != nil {
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_QUICKACK, one(*o.QuickAck)) // advice; the answer is measured all the same
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

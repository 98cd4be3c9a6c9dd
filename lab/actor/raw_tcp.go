package actor

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// The actors that must sit in the kernel, in accept, read or write on a file
// descriptor, as the programs they stand for do, use system calls of their own:
// the net package would park them in its poller instead.

// listenTCP opens a blocking listener with that backlog, on a UNIX socket where at is a
// path: net.Listen always takes somaxconn.
func listenTCP(at string, backlog int) (int, error) {
	if networkOf(at) == "unix" {
		return listenUnix(at, backlog)
	}
	addr, err := netip.ParseAddrPort(at)
	if err != nil {
		return -1, fmt.Errorf("actor: listen on %q: %w", at, err)
	}
	if !addr.Addr().Is4() {
		return -1, fmt.Errorf("actor: listen on %s: only IPv4 here", at)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("actor: socket for %s: %w", at, err)
	}
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()})
	}
	if err == nil {
		err = unix.Listen(fd, backlog)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("actor: listen on %s: %w", at, err)
	}
	return fd, nil
}

func listenUnix(at string, backlog int) (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("actor: socket for %s: %w", at, err)
	}
	if err = unix.Bind(fd, &unix.SockaddrUnix{Name: at}); err == nil {
		err = unix.Listen(fd, backlog)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("actor: listen on %s: %w", at, err)
	}
	return fd, nil
}

// networkOf is the network of an address:port, or of a path.
func networkOf(at string) string {
	if strings.HasPrefix(at, "/") {
		return "unix"
	}
	return "tcp4"
}

// acceptTCP waits for a connection.
func acceptTCP(fd int) (int, error) {
	for {
		conn, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC)
		if err != unix.EINTR {
			return conn, err
		}
	}
}

// readSome and writeAll retry what a signal interrupted: Go's runtime preempts
// with SIGURG.
func readSome(fd int, b []byte) (int, error) {
	for {
		n, err := unix.Read(fd, b)
		if err != unix.EINTR {
			return n, err
		}
	}
}

func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// exitWith ends the process when the context does, also while its thread is
// blocked in the kernel and cannot look at a clock.
func exitWith(ctx context.Context) {
	context.AfterFunc(ctx, func() { os.Exit(0) })
}

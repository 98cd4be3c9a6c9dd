package ts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
	"golang.org/x/sys/unix"

	"snag/internal/netns"
)

// receiveBuffer is asked for, in bytes: a second of 16 Mbit/s, as long as a busy
// host may leave a reader waiting. The kernel gives net.core.rmem_max at the most
// to a reader without CAP_NET_ADMIN, and says what it had to drop.
const receiveBuffer = 2 << 20

// batcher is what ipv4 and ipv6 have alike.
type batcher interface {
	ReadBatch([]ipv4.Message, int) (int, error)
}

// socket receives datagrams in batches.
type socket struct {
	conn  *net.UDPConn
	batch batcher
}

// listen opens the socket in the namespace at path, "" being snag's own, and joins
// the group where the address is one.
func listen(ctx context.Context, a address, path string) (*socket, error) {
	var s *socket
	open := func() (err error) {
		s, err = listenHere(ctx, a)
		return err
	}
	if path == "" {
		err := open()
		return s, err
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return nil, fmt.Errorf("read %s: find network namespace %s: %w", a.shown, path, err)
	}
	h, err := netns.Open(netns.Namespace{ID: st.Ino, Path: path})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", a.shown, err)
	}
	defer h.Close()
	err = h.Do(open)
	return s, err
}

func listenHere(ctx context.Context, a address) (*socket, error) {
	group := a.at.Addr().IsMulticast()
	network := "udp6"
	if a.at.Addr().Is4() {
		network = "udp4"
	}
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error { return options(raw, group) }}
	// Bound to the group, the socket gets no other group's datagrams for the port.
	c, err := config.ListenPacket(ctx, network, a.at.String())
	if err != nil {
		return nil, fmt.Errorf("read %s: listen: %w", a.shown, cure(err))
	}
	conn := c.(*net.UDPConn) //nolint:errcheck,forcetypeassert // of these networks it is nothing else
	s := &socket{conn: conn}
	if a.at.Addr().Is4() {
		s.batch = ipv4.NewPacketConn(conn)
	} else {
		s.batch = ipv6.NewPacketConn(conn)
	}
	if group {
		if err := join(conn, a); err != nil {
			conn.Close()
			return nil, err
		}
	}
	return s, nil
}

// options asks for arrival times, for a count of what was dropped, and for room.
// Where one is refused the reader does without.
func options(raw syscall.RawConn, group bool) error {
	return raw.Control(func(d uintptr) {
		fd := int(d)
		if group { // others on this host may read the group too
			_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
			_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MULTICAST_ALL, 0)
		}
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1)
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer) != nil {
			_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer)
		}
	})
}

func join(c *net.UDPConn, a address) error {
	var device *net.Interface
	if a.device != "" {
		found, err := net.InterfaceByName(a.device)
		if err != nil {
			return fmt.Errorf("read %s: interface %s: %w", a.shown, a.device, err)
		}
		device = found
	}
	group := &net.UDPAddr{IP: a.at.Addr().AsSlice()}
	var err error
	switch {
	case a.at.Addr().Is4() && a.source.IsValid():
		err = ipv4.NewPacketConn(c).JoinSourceSpecificGroup(device, group, &net.UDPAddr{IP: a.source.AsSlice()})
	case a.at.Addr().Is4():
		err = ipv4.NewPacketConn(c).JoinGroup(device, group)
	case a.source.IsValid():
		err = ipv6.NewPacketConn(c).JoinSourceSpecificGroup(device, group, &net.UDPAddr{IP: a.source.AsSlice()})
	default:
		err = ipv6.NewPacketConn(c).JoinGroup(device, group)
	}
	if errors.Is(err, unix.ENODEV) {
		err = fmt.Errorf("%w: no route leads to the group: name the interface with ?interface=", err)
	}
	if err != nil {
		return fmt.Errorf("read %s: join the group: %w", a.shown, err)
	}
	return nil
}

func cure(err error) error {
	switch {
	case errors.Is(err, unix.EADDRINUSE):
		return fmt.Errorf("%w: another program receives this already: stop it, or watch where it sends to", err)
	case errors.Is(err, unix.EADDRNOTAVAIL):
		return fmt.Errorf("%w: it is not this host's: give one of its own addresses, a group, or none (udp://:port)", err)
	}
	return err
}

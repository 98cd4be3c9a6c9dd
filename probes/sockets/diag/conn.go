package diag

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Conn is a socket-diagnosis socket. It belongs to the network namespace of the
// thread that opened it, and keeps that namespace alive until it is closed.
type Conn struct {
	fd  int
	seq uint32
	buf []byte
	req []byte
}

// Open opens a Conn in the calling thread's network namespace.
func Open() (*Conn, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf("open a sock_diag netlink socket: %w", err)
	}
	c := &Conn{fd: fd}
	// The kernel answers at once; what takes longer will never come.
	timeout := unix.Timeval{Sec: 2}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("set a timeout on the sock_diag netlink socket: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("bind the sock_diag netlink socket: %w", err)
	}
	return c, nil
}

// Close closes the socket.
func (c *Conn) Close() error { return unix.Close(c.fd) }

// ErrNoModule is that the kernel has no sock_diag handler for a protocol.
var ErrNoModule = errors.New("the kernel has no handler for it: modprobe tcp_diag udp_diag")

// Dump calls each for every socket of a kind in one of the states (a bit each).
func (c *Conn) Dump(k Kind, states uint32, each func(Found)) error {
	c.seq++
	c.req = appendRequest(c.req[:0], k, states, nil, c.seq)
	if err := c.send(); err != nil {
		return err
	}
	for {
		done, err := c.receive(k.Proto, c.seq, each, nil)
		if done || err != nil {
			return c.explain(k, err)
		}
	}
}

// atOnce is how many answers surely fit the default receive buffer together:
// 212,992 bytes, each answer is charged about 1,300.
const atOnce = 64

// Get calls each for those of the sockets that still exist.
func (c *Conn) Get(k Kind, ids [][idSize]byte, each func(Found)) error {
	for len(ids) > 0 {
		n := min(atOnce, len(ids))
		c.req = c.req[:0]
		first := c.seq + 1
		for i := range ids[:n] {
			c.seq++
			c.req = appendRequest(c.req, k, AllStates, &ids[i], c.seq)
		}
		ids = ids[n:]
		if err := c.send(); err != nil {
			return err
		}
		for left := n; left > 0; {
			answered := 0
			if _, err := c.receive(k.Proto, first, each, &answered); err != nil {
				return c.explain(k, err)
			}
			left -= answered
		}
	}
	return nil
}

func (c *Conn) send() error {
	if err := unix.Sendto(c.fd, c.req, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("ask the kernel for sockets: %w", err)
	}
	return nil
}

func (c *Conn) explain(k Kind, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, unix.ENOENT) {
		err = ErrNoModule
	}
	return fmt.Errorf("dump %s sockets: %w", protoName(k.Proto), err)
}

// receive reads one datagram. With answered, each message is the answer to one
// request and an error of one is only that its socket is gone.
func (c *Conn) receive(proto byte, since uint32, each func(Found), answered *int) (done bool, err error) {
	b, err := c.datagram()
	if b == nil || err != nil {
		return false, err
	}
	return walk(b, proto, since, each, answered)
}

// datagram reads one; nil when a signal came between. It is good until the next.
func (c *Conn) datagram() ([]byte, error) {
	if c.buf == nil {
		c.buf = make([]byte, 64<<10) // the kernel sends at most 32 KiB a datagram
	}
	n, _, err := unix.Recvfrom(c.fd, c.buf, 0)
	switch {
	case errors.Is(err, unix.EINTR):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the kernel's answer: %w", err)
	}
	return c.buf[:n], nil
}

// walk goes through the netlink messages of one datagram.
func walk(b []byte, proto byte, since uint32, each func(Found), answered *int) (done bool, err error) {
	return messages(b, since, answered, func(payload []byte) {
		if f, err := Decode(payload, proto); err == nil {
			each(f)
		}
	})
}

// messages gives out the answers of one datagram.
func messages(b []byte, since uint32, answered *int, each func(payload []byte)) (done bool, err error) {
	for len(b) >= unix.NLMSG_HDRLEN {
		size := int(binary.LittleEndian.Uint32(b))
		if size < unix.NLMSG_HDRLEN || size > len(b) {
			return false, fmt.Errorf("a netlink message of %d bytes in a datagram with %d left", size, len(b))
		}
		kind, seq := binary.LittleEndian.Uint16(b[4:]), binary.LittleEndian.Uint32(b[8:])
		payload := b[unix.NLMSG_HDRLEN:size]
		b = b[min(len(b), (size+3)&^3):]
		if int32(seq-since) < 0 {
			continue // the rest of a request that was given up
		}
		if answered != nil {
			*answered++
		}
		switch kind {
		case unix.NLMSG_DONE, unix.NLMSG_ERROR:
			if answered != nil {
				continue
			}
			return true, errnoOf(payload)
		case byFamily:
			each(payload)
		}
	}
	return false, nil
}

// errnoOf reads the errno of NLMSG_ERROR and NLMSG_DONE: negative, 0 for none.
func errnoOf(payload []byte) error {
	if len(payload) < 4 {
		return nil
	}
	if e := int32(u32of(payload)); e < 0 {
		return unix.Errno(-e)
	}
	return nil
}

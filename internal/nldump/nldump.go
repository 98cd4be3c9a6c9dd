// Package nldump asks netlink for dumps on raw sockets that stay in the network
// namespace that they were opened in. Replies are read into one buffer and handed
// over one by one, so that a table of a million routes costs no memory, and can be
// left in the middle.
package nldump

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Conn is a netlink socket of one namespace, kept open; or why there is none.
type Conn struct {
	fd  int
	seq uint32
	buf []byte
	err error
}

// ReplyMost is what the kernel puts into one datagram of a dump at most:
// NLMSG_GOODSIZE, and up to 32 KiB when the reader's buffer has shown to be large
// (net/netlink/af_netlink.c, netlink_dump).
const ReplyMost = 1 << 16

// Dial opens the socket (unix.NETLINK_ROUTE, unix.NETLINK_NETFILTER) in the
// calling thread's namespace; replies are read into buf, of ReplyMost bytes.
func Dial(protocol int, buf []byte) *Conn {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return &Conn{fd: -1, err: fmt.Errorf("open a netlink socket: %w", err)}
	}
	// The kernel answers within the call; this only keeps a bug from hanging it.
	err = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1})
	if err != nil {
		unix.Close(fd)
		return &Conn{fd: -1, err: fmt.Errorf("set up a netlink socket: %w", err)}
	}
	return &Conn{fd: fd, buf: buf}
}

// Close closes the socket.
func (r *Conn) Close() {
	if r.fd >= 0 {
		unix.Close(r.fd)
		r.fd = -1
	}
}

// ErrInterrupted is the error of a dump whose objects changed while it ran.
var ErrInterrupted = errors.New("it changed while it was read")

// ErrEnough is what a reader of a dump returns to end it.
var ErrEnough = errors.New("enough was read")

// Dump asks for all objects of a kind and hands each reply to one; the bytes are
// only good until one returns. A dump that changed while it ran is told as an
// error once all of it was handed over: what is double or missing in it shows at
// the next reading. When one returns ErrEnough the rest is not read, and the
// socket is of no further use.
func (r *Conn) Dump(kind uint16, header []byte, one func(data []byte) error) error {
	if r.err != nil {
		return r.err
	}
	if err := r.ask(kind, header); err != nil {
		return fmt.Errorf("ask netlink for dump %d: %w", kind, err)
	}
	var bad error
	for {
		n, _, err := unix.Recvfrom(r.fd, r.buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read netlink dump %d: %w", kind, err)
		}
		done, err := EachReply(r.buf[:n], r.seq, func(data []byte) {
			if errors.Is(bad, ErrEnough) {
				return
			}
			if err := one(data); err != nil {
				bad = err
			}
		})
		if errors.Is(bad, ErrEnough) {
			return bad
		}
		if err != nil && !errors.Is(err, ErrInterrupted) {
			return fmt.Errorf("read netlink dump %d: %w", kind, err)
		}
		if err != nil {
			bad = fmt.Errorf("read netlink dump %d: %w", kind, err)
		}
		if done {
			return bad
		}
	}
}

func (r *Conn) ask(kind uint16, header []byte) error {
	r.seq++
	request := make([]byte, 16, 16+len(header))
	binary.NativeEndian.PutUint32(request, uint32(16+len(header)))
	binary.NativeEndian.PutUint16(request[4:], kind)
	binary.NativeEndian.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	binary.NativeEndian.PutUint32(request[8:], r.seq)
	return unix.Sendto(r.fd, append(request, header...), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
}

// EachReply splits one datagram into its messages (RFC 3549, section 2.3.2) and
// hands over the payload of those that answer seq; done once the dump's end is
// among them.
func EachReply(buf []byte, seq uint32, one func(data []byte)) (done bool, err error) {
	for len(buf) >= 16 {
		size := int(binary.NativeEndian.Uint32(buf))
		if size < 16 || size > len(buf) {
			return done, fmt.Errorf("a message of %d bytes in %d", size, len(buf))
		}
		kind, flags := binary.NativeEndian.Uint16(buf[4:]), binary.NativeEndian.Uint16(buf[6:])
		data := buf[16:size]
		ours := binary.NativeEndian.Uint32(buf[8:]) == seq
		buf = buf[min(len(buf), (size+3)&^3):]
		if !ours { // what is left of a dump that was given up
			continue
		}
		if flags&unix.NLM_F_DUMP_INTR != 0 {
			err = ErrInterrupted
		}
		switch kind {
		case unix.NLMSG_DONE:
			return true, err
		case unix.NLMSG_ERROR:
			if len(data) >= 4 {
				if code := int32(binary.NativeEndian.Uint32(data)); code < 0 {
					return true, unix.Errno(-code)
				}
			}
			return true, err
		default:
			one(data)
		}
	}
	return done, err
}

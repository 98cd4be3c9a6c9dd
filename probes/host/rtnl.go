package host

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// rtnl is a rtnetlink socket of one namespace, kept open; or why there is none.
// It is asked several times a second in each namespace, so replies are read into
// one buffer, without a look at their size first.
type rtnl struct {
	fd  int
	seq uint32
	buf []byte
	err error
}

// replyMost is what the kernel puts into one datagram of a dump at most:
// NLMSG_GOODSIZE, and up to 32 KiB when the reader's buffer has shown to be large
// (net/netlink/af_netlink.c, netlink_dump).
const replyMost = 1 << 16

// dialRoute opens the socket in the calling thread's namespace; replies are read
// into buf, of replyMost bytes.
func dialRoute(buf []byte) *rtnl {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return &rtnl{fd: -1, err: fmt.Errorf("open a rtnetlink socket: %w", err)}
	}
	// The kernel answers within the call; this only keeps a bug from hanging it.
	err = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1})
	if err != nil {
		unix.Close(fd)
		return &rtnl{fd: -1, err: fmt.Errorf("set up a rtnetlink socket: %w", err)}
	}
	return &rtnl{fd: fd, buf: buf}
}

func (r *rtnl) close() {
	if r.fd >= 0 {
		unix.Close(r.fd)
		r.fd = -1
	}
}

var errInterrupted = errors.New("it changed while it was read")

// dump asks for all objects of a kind and hands each reply to one; the bytes are
// only good until one returns. A dump that changed while it ran is told as an
// error once all of it was handed over: what is double or missing in it shows at
// the next reading.
func (r *rtnl) dump(kind uint16, header []byte, one func(data []byte) error) error {
	if r.err != nil {
		return r.err
	}
	if err := r.ask(kind, header); err != nil {
		return fmt.Errorf("ask rtnetlink for dump %d: %w", kind, err)
	}
	var bad error
	for {
		n, _, err := unix.Recvfrom(r.fd, r.buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read rtnetlink dump %d: %w", kind, err)
		}
		done, err := eachReply(r.buf[:n], r.seq, func(data []byte) {
			if err := one(data); err != nil {
				bad = err
			}
		})
		if err != nil && !errors.Is(err, errInterrupted) {
			return fmt.Errorf("read rtnetlink dump %d: %w", kind, err)
		}
		if err != nil {
			bad = fmt.Errorf("read rtnetlink dump %d: %w", kind, err)
		}
		if done {
			return bad
		}
	}
}

func (r *rtnl) ask(kind uint16, header []byte) error {
	r.seq++
	request := make([]byte, 16, 16+len(header))
	binary.NativeEndian.PutUint32(request, uint32(16+len(header)))
	binary.NativeEndian.PutUint16(request[4:], kind)
	binary.NativeEndian.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	binary.NativeEndian.PutUint32(request[8:], r.seq)
	return unix.Sendto(r.fd, append(request, header...), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
}

// eachReply splits one datagram into its messages (RFC 3549, section 2.3.2) and
// hands over the payload of those that answer seq; done once the dump's end is
// among them.
func eachReply(buf []byte, seq uint32, one func(data []byte)) (done bool, err error) {
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
			err = errInterrupted
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

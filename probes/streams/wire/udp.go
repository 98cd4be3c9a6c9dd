package wire

import (
	"encoding/binary"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// UDP is a socket whose datagrams come with the kernel's time of arrival, so that a
// reader that runs late does not see the stream late.
type UDP struct {
	*net.UDPConn
	now func() int64
	oob [128]byte
}

// receiveBuffer is asked for (bytes): a key picture of a camera comes at once. The
// kernel gives net.core.rmem_max at the most.
const receiveBuffer = 2 << 20

// ListenUDP opens a socket on addr in the namespace at path and joins the group
// where addr is one. now is the monotonic clock, ns.
func ListenUDP(path string, addr netip.AddrPort, now func() int64) (*UDP, error) {
	var c *net.UDPConn
	err := In(path, func() (err error) {
		a := net.UDPAddrFromAddrPort(addr)
		if addr.Addr().IsMulticast() {
			c, err = net.ListenMulticastUDP("udp", nil, a)
		} else {
			c, err = net.ListenUDP("udp", a)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	_ = c.SetReadBuffer(receiveBuffer) // less is still a receiver
	u := &UDP{UDPConn: c, now: now}
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			// Without stamps the time of reading is taken.
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
		})
	}
	return u, nil
}

// maxAge is how old a datagram may be by its stamp; more is a wall clock that was
// set meanwhile.
const maxAge = int64(10 * time.Second)

// Receive reads one datagram: its length, sender and arrival on the monotonic
// clock. Errors are those of the read, a deadline's among them.
func (u *UDP) Receive(b []byte) (n int, from netip.AddrPort, at int64, err error) {
	n, oobn, _, from, err := u.ReadMsgUDPAddrPort(b, u.oob[:])
	if err != nil {
		return 0, from, 0, err
	}
	at = u.now()
	if stamp, ok := stampOf(u.oob[:oobn]); ok {
		if age := time.Now().UnixNano() - stamp; age > 0 && age < maxAge {
			at -= age
		}
	}
	return n, from, at, nil
}

// stampOf finds SCM_TIMESTAMPNS: two 64-bit numbers, seconds and ns of the wall
// clock (socket(7)).
func stampOf(oob []byte) (int64, bool) {
	const header = unix.SizeofCmsghdr
	for len(oob) >= header {
		size := binary.NativeEndian.Uint64(oob)
		level := int32(binary.NativeEndian.Uint32(oob[8:]))
		kind := int32(binary.NativeEndian.Uint32(oob[12:]))
		if size < header || size > uint64(len(oob)) {
			return 0, false
		}
		if level == unix.SOL_SOCKET && kind == unix.SCM_TIMESTAMPNS && size >= header+16 {
			b := oob[header:]
			return int64(binary.NativeEndian.Uint64(b))*int64(time.Second) + int64(binary.NativeEndian.Uint64(b[8:])), true
		}
		oob = oob[min(uint64(len(oob)), (size+7)&^7):]
	}
	return 0, false
}

package trial

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ICMP's types of echo (RFC 792, RFC 4443).
const (
	echoRequest4, echoReply4 = 8, 0
	echoRequest6, echoReply6 = 128, 129
)

// pinger is a socket for ICMP echo with one host.
type pinger struct {
	fd    int
	raw   bool // what is read of IPv4 begins with the IP header
	six   bool
	id    uint16
	sent  []time.Time
	first []time.Duration // of each answer; 0: none
}

func newPinger(to netip.Addr) (*pinger, error) {
	p := &pinger{six: to.Is6(), id: uint16(os.Getpid())} //nolint:gosec // any number will do
	family, protocol := unix.AF_INET, unix.IPPROTO_ICMP
	if p.six {
		family, protocol = unix.AF_INET6, unix.IPPROTO_ICMPV6
	}
	var err error
	if p.fd, err = unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol); err != nil {
		p.raw = true
		p.fd, err = unix.Socket(family, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol)
	}
	if err != nil {
		return nil, fmt.Errorf("ICMP echo is not permitted: run as root, or widen net.ipv4.ping_group_range: %w", err)
	}
	if err := unix.Connect(p.fd, sockaddr(netip.AddrPortFrom(to, 0))); err != nil {
		unix.Close(p.fd)
		return nil, fmt.Errorf("ICMP echo to %s: %w", to, err)
	}
	return p, nil
}

func (p *pinger) send(number uint16) error {
	b := make([]byte, 64)
	b[0] = echoRequest4
	if p.six {
		b[0] = echoRequest6
	}
	binary.BigEndian.PutUint16(b[4:], p.id)
	binary.BigEndian.PutUint16(b[6:], number)
	if !p.six { // the kernel fills in that of ICMPv6
		binary.BigEndian.PutUint16(b[2:], checksum(b))
	}
	p.sent, p.first = append(p.sent, time.Now()), append(p.first, 0)
	_, err := unix.Write(p.fd, b)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EHOSTUNREACH) || errors.Is(err, unix.ECONNREFUSED) {
		return nil // it is lost
	}
	return err
}

// read takes the answers that come within d.
func (p *pinger) read(d time.Duration) {
	b := make([]byte, 1500)
	for until := time.Now().Add(d); ; {
		left := time.Until(until)
		if left <= 0 {
			return
		}
		t := unix.NsecToTimespec(left.Nanoseconds())
		_, _ = unix.Ppoll([]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}, &t, nil) //nolint:gosec // a descriptor; the read below tells
		for {
			n, err := unix.Read(p.fd, b)
			if err != nil || n == 0 {
				break
			}
			p.take(b[:n])
		}
	}
}

func (p *pinger) take(b []byte) {
	if p.raw && !p.six && len(b) > 0 {
		b = b[min(len(b), 4*int(b[0]&0xf)):]
	}
	reply := byte(echoReply4)
	if p.six {
		reply = echoReply6
	}
	if len(b) < 8 || b[0] != reply || p.raw && binary.BigEndian.Uint16(b[4:]) != p.id {
		return
	}
	if i := int(binary.BigEndian.Uint16(b[6:])); i < len(p.sent) && p.first[i] == 0 {
		p.first[i] = max(1, time.Since(p.sent[i]))
	}
}

func (p *pinger) missing() (n int) {
	for _, d := range p.first {
		if d == 0 {
			n++
		}
	}
	return n
}

// checksum of the internet (RFC 1071).
func checksum(b []byte) uint16 {
	var sum uint32
	for i := 0; i+1 < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum>>16 > 0 {
		sum = sum&0xffff + sum>>16
	}
	return ^uint16(sum) //nolint:gosec // 16 bits are left
}

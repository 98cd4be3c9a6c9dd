package trial

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"snag/load/elimination"
)

const (
	mostHops = 20
	// firstPort is where traceroute's UDP probes begin: a port on which hardly anybody listens.
	firstPort = 33434
	hopWithin = time.Second
)

// probe is one packet whose TTL ends on the way, or at the host.
type probe struct {
	fd   int
	hop  elimination.Hop
	sent time.Time
	over bool
}

// route sends one probe for each hop at the same time, by UDP or by TCP's SYN to the port itself, and reads
// who reported it (ip(7), IP_RECVERR): it needs no root.
func route(ctx context.Context, to netip.AddrPort, hops int, tcp bool) ([]elimination.Hop, error) {
	var all []*probe
	defer func() {
		for _, p := range all {
			unix.Close(p.fd)
		}
	}()
	for ttl := 1; ttl <= hops; ttl++ {
		p, err := sendProbe(to, ttl, tcp)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	readProbes(ctx, all, to.Addr(), tcp)
	for _, p := range all {
		p.again(tcp)
	}
	readProbes(ctx, all, to.Addr(), tcp)
	return hopsOf(all), nil
}

// readProbes reads what is reported of probes for half of the time that they have.
func readProbes(ctx context.Context, all []*probe, target netip.Addr, tcp bool) {
	for until := time.Now().Add(hopWithin / 2); time.Now().Before(until) && ctx.Err() == nil; {
		if !awaitProbes(all, time.Until(until)) {
			break
		}
		for _, p := range all {
			p.read(target, tcp)
		}
	}
}

// again sends a probe once more that nobody reported. Hosts and routers report a limited number of packets a
// second (icmp(7), icmp_ratelimit), and any packet can be lost. TCP sends its SYN again by itself.
func (p *probe) again(tcp bool) {
	if p.over || tcp {
		return
	}
	p.sent = time.Now()
	_, _ = unix.Write(p.fd, []byte("snag")) // what it is refused for, read sees
}

// hopsOf ends at the host, or at the last one that answered.
func hopsOf(all []*probe) (out []elimination.Hop) {
	last := 0
	for i, p := range all {
		out = append(out, p.hop)
		if p.hop.Address != "" {
			last = i + 1
		}
		if p.hop.End {
			break
		}
	}
	return out[:min(last, len(out))]
}

func sendProbe(to netip.AddrPort, ttl int, tcp bool) (*probe, error) {
	kind, family := unix.SOCK_DGRAM, unix.AF_INET
	level, errs, limit := unix.IPPROTO_IP, unix.IP_RECVERR, unix.IP_TTL
	if to.Addr().Is6() {
		family, level, errs, limit = unix.AF_INET6, unix.IPPROTO_IPV6, unix.IPV6_RECVERR, unix.IPV6_UNICAST_HOPS
	}
	if tcp {
		kind = unix.SOCK_STREAM
	} else {
		to = netip.AddrPortFrom(to.Addr(), uint16(firstPort+ttl)) //nolint:gosec // far below 65536
	}
	fd, err := unix.Socket(family, kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make a socket: %w", err)
	}
	p := &probe{fd: fd, hop: elimination.Hop{TTL: ttl}, sent: time.Now()}
	err = errors.Join(unix.SetsockoptInt(fd, level, errs, 1), unix.SetsockoptInt(fd, level, limit, ttl))
	if err == nil {
		err = unix.Connect(fd, sockaddr(to))
	}
	if err == nil && !tcp {
		_, err = unix.Write(fd, []byte("snag"))
	}
	if err != nil && !errors.Is(err, unix.EINPROGRESS) {
		unix.Close(fd)
		return nil, fmt.Errorf("send a packet with a TTL of %d to %s: %w", ttl, to, err)
	}
	return p, nil
}

// awaitProbes waits until something came. False: nothing is awaited.
func awaitProbes(all []*probe, d time.Duration) bool {
	var fds []unix.PollFd
	for _, p := range all {
		if !p.over {
			fds = append(fds, unix.PollFd{Fd: int32(p.fd), Events: unix.POLLIN | unix.POLLERR}) //nolint:gosec // a descriptor
		}
	}
	if len(fds) == 0 {
		return false
	}
	t := unix.NsecToTimespec(min(max(d, 0), 20*time.Millisecond).Nanoseconds())
	_, _ = unix.Ppoll(fds, &t, nil) // each is read in any case
	return true
}

// read takes what was reported of a probe.
func (p *probe) read(target netip.Addr, tcp bool) {
	if p.over {
		return
	}
	b, control := make([]byte, 512), make([]byte, 512)
	_, n, _, _, err := unix.Recvmsg(p.fd, b, control, unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
	if err == nil {
		if from, ok := offender(control[:n]); ok {
			p.end(from, from == target)
		}
		return
	}
	if !tcp {
		return
	}
	_, joined := unix.Getpeername(p.fd)
	code, _ := unix.GetsockoptInt(p.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if joined == nil || unix.Errno(code) == unix.ECONNREFUSED { // it took the connection, or refused it
		p.end(target, true)
	}
}

func (p *probe) end(from netip.Addr, reached bool) {
	p.hop.Address, p.hop.RTT, p.hop.End, p.over = from.String(), time.Since(p.sent).Seconds(), reached, true
}

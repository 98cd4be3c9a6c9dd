package trial

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"snag/load/elimination"
)

const (
	mostHops = 20
	// firstPort is where traceroute's UDP probes begin: a port on which hardly anybody listens.
	firstPort = 33434
	hopWithin = time.Second
	// probesUDP and probesTCP of each hop: as mtr, several show a spread. Linux reports six of a sender at once, and
	// then one per second (icmp_ratelimit and XRLIM_BURST_FACTOR, net/ipv4/icmp.c): more would look like loss.
	probesUDP = 5
	probesTCP = 3
	roundEach = 300 * time.Millisecond
)

// probe is one packet whose TTL ends on the way, or at the host.
type probe struct {
	fd      int
	ttl     int
	sent    time.Time
	over    bool
	from    string // who reported it
	took    float64
	reached bool
}

// route sends probes for each hop at the same time, by UDP or by TCP's SYN to the port itself, and reads who reported
// them (ip(7), IP_RECVERR): it needs no root. It does so several times, from the second on for the hops that there are.
func route(ctx context.Context, to netip.AddrPort, hops int, tcp bool) ([]elimination.Hop, error) {
	rounds := probesUDP
	if tcp {
		rounds = probesTCP
	}
	var out []elimination.Hop
	for n := range rounds {
		began := time.Now()
		all, err := oneRound(ctx, to, hops, within(out), tcp)
		if err != nil {
			return nil, err
		}
		out = addRound(out, all)
		if n > 0 || slices.ContainsFunc(out, func(h elimination.Hop) bool { return h.End }) { // any packet can be lost
			out = known(out)
		}
		if hops = len(out); hops == 0 || ctx.Err() != nil {
			break
		}
		if n+1 < rounds {
			pauseUntil(ctx, began.Add(roundEach))
		}
	}
	return summed(out), nil
}

// within is how long answers are awaited: three times as long as the slowest that came, if any did.
func within(seen []elimination.Hop) time.Duration {
	slowest := 0.0
	for _, h := range seen {
		for _, t := range h.Times {
			slowest = max(slowest, t)
		}
	}
	if slowest == 0 {
		return hopWithin
	}
	return min(hopWithin, max(roundEach, time.Duration(3*slowest*float64(time.Second))))
}

func pauseUntil(ctx context.Context, at time.Time) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(at)):
	}
}

// oneRound sends one probe for each hop.
func oneRound(ctx context.Context, to netip.AddrPort, hops int, wait time.Duration, tcp bool) (all []*probe, err error) {
	defer func() {
		for _, p := range all {
			unix.Close(p.fd)
		}
	}()
	for ttl := 1; ttl <= hops; ttl++ {
		p, err := sendProbe(to, ttl, tcp)
		if err != nil {
			return all, err
		}
		all = append(all, p)
	}
	for until := time.Now().Add(wait); time.Now().Before(until) && ctx.Err() == nil; {
		if !awaitProbes(all, time.Until(until)) {
			break
		}
		for _, p := range all {
			p.read(to.Addr(), tcp)
		}
	}
	return all, nil
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
	p := &probe{fd: fd, ttl: ttl, sent: time.Now()}
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
	p.from, p.took, p.reached, p.over = from.String(), time.Since(p.sent).Seconds(), reached, true
}

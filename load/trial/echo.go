package trial

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"snag/load/elimination"
)

// lastEcho is how long the last answers are awaited.
const lastEcho = time.Second

// echo sends ICMP echo requests. Not every user may: net.ipv4.ping_group_range.
func echo(ctx context.Context, to netip.Addr, n int, every time.Duration) (*elimination.Echo, error) {
	p, err := newPinger(to)
	if err != nil {
		return nil, err
	}
	defer unix.Close(p.fd)
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		if err := p.send(uint16(i)); err != nil { //nolint:gosec // some hundred
			return nil, fmt.Errorf("send ICMP echo: %w", err)
		}
		p.read(every)
	}
	for until := time.Now().Add(lastEcho); time.Now().Before(until) && p.missing() > 0 && ctx.Err() == nil; {
		p.read(50 * time.Millisecond)
	}
	out := &elimination.Echo{Sent: len(p.sent), Lost: p.missing()}
	var took []time.Duration
	for _, d := range p.first {
		if d > 0 {
			took = append(took, d)
		}
	}
	out.P50, out.Min = quantile(took, 50), quantile(took, 0)
	return out, nil
}

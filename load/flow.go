package load

import (
	"time"

	"golang.org/x/sys/unix"

	"snag/load/protocol"
)

// flowing reads what the kernel counts of the connections of a bandwidth, at both ends of the time that counts.
type flowing struct {
	gone        carried // by connections that were closed
	first, last *carried
}

// carried are counters at one time, summed over the connections.
type carried struct {
	at                   time.Duration
	messages, returned   int64 // that were taken by this host's kernel, that came back
	acked, sent, resent  uint64
	busy, window, buffer uint64 // µs
}

func (c *carried) add(o carried) {
	c.acked, c.sent, c.resent = c.acked+o.acked, c.sent+o.sent, c.resent+o.resent
	c.busy, c.window, c.buffer = c.busy+o.busy, c.window+o.window, c.buffer+o.buffer
}

// look takes the counters when the time comes.
func (f *flowing) look(r *run) {
	switch {
	case f.first == nil && r.now >= r.from:
		f.first = f.all(r)
	case f.last == nil && r.now >= r.until:
		f.last = f.all(r)
	}
}

func (f *flowing) all(r *run) *carried {
	sum := f.gone
	for i := range r.conns {
		if c := &r.conns[i]; c.fd >= 0 {
			sum.add(carriedBy(r, c.fd))
		}
	}
	sum.at, sum.messages, sum.returned = r.now, r.taken, r.out.Unasked
	return &sum
}

// leave keeps the counters of a connection that is closed.
func (f *flowing) leave(r *run, fd int) { f.gone.add(carriedBy(r, fd)) }

// carriedBy reads TCP_INFO (include/uapi/linux/tcp.h).
func carriedBy(r *run, fd int) (c carried) {
	if r.plan.Target.Network != "tcp" {
		return c
	}
	i, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return c // it was closed meanwhile
	}
	return carried{acked: i.Bytes_acked, sent: i.Bytes_sent, resent: i.Bytes_retrans, busy: i.Busy_time, window: i.Rwnd_limited, buffer: i.Sndbuf_limited}
}

// of is what the counters say; nil: the time that counts had no end.
func (f *flowing) of(p Plan) *Flow {
	if f.first == nil || f.last == nil || f.last.at <= f.first.at {
		return nil
	}
	a, b := f.first, f.last
	size := p.Target.Protocol.(protocol.Sized) // ForBandwidth makes no other
	rate := func(bytes float64) float64 { return 8 * bytes / (b.at - a.at).Seconds() }
	share := func(part, whole uint64) float64 {
		if whole == 0 {
			return 0
		}
		return float64(part) / float64(whole)
	}
	out := &Flow{Message: size.Bytes(), Seconds: (b.at - a.at).Seconds(), Needed: p.Bandwidth, Sent: rate(float64(b.messages-a.messages) * float64(size.Bytes()))}
	if p.Target.Network == "tcp" {
		acked := rate(float64(b.acked - a.acked))
		out.Acked = &acked
		out.ByWindow, out.ByBuffer = share(b.window-a.window, b.busy-a.busy), share(b.buffer-a.buffer, b.busy-a.busy)
		out.Resent = share(b.resent-a.resent, b.sent-a.sent)
	}
	if size.Answer > 0 {
		// An answer stands for its message, whatever its own size.
		returned := rate(float64(b.returned-a.returned) * float64(size.Bytes()))
		out.Returned = &returned
	}
	return out
}

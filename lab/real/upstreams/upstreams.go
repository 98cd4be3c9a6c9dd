// Package upstreams starts what stands behind a proxy in drawn incidents.
package upstreams

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Subject is a regular expression for what a person would go and see to behind the proxy.
const Subject = `shop-backend|:9\d\d\d`

// Set is some servers of the same.
type Set struct {
	Addrs []string
	Takes time.Duration // an answer
	b     *drawn.Bench
	start []func() *lab.Process
	procs []*lab.Process
}

// Start starts 1 to 3 of them, beside the proxy or on another host, and says how the
// faults of these names are switched: down (one is gone), slow (its answers take longer),
// stopped (SIGSTOP).
func Start(b *drawn.Bench, proxy string, size int, takes time.Duration, down, slow, stopped string) *Set {
	s := &Set{b: b, Takes: takes}
	ns, addr := proxy, "127.0.0.1"
	if b.Chance("upstreams on another host", 0.5) {
		ns, addr = b.Netns("backends"), "10.78.1.2"
		b.Veth(lab.End{Netns: proxy, Device: "eth1", Addr: "10.78.1.1/24"}, lab.End{Netns: ns, Device: "eth1", Addr: addr + "/24"})
	}
	more := b.Duration("slow answers take", 20*time.Millisecond, 3*time.Second)
	for i := range b.Int("upstreams", 1, 3) {
		at := fmt.Sprintf("%s:%d", addr, 9001+i)
		start := func() *lab.Process {
			return b.Actor(ns, "shop-backend", "http-upstream", []string{"--listen", at, "--size", fmt.Sprint(size), "--wait", takes.String(), "--slow", more.String()})
		}
		s.Addrs, s.start, s.procs = append(s.Addrs, at), append(s.start, start), append(s.procs, start())
		b.AwaitPrinted(s.procs[i], "ready")
	}
	toggle := func() { b.Signal(s.procs[0], syscall.SIGUSR2) }
	b.Switch(slow, toggle, toggle)
	b.Switch(down, func() { b.Stop(s.procs[0]) }, func() { s.procs[0] = s.start[0]() })
	b.SwitchStops(stopped, s.procs[0].PID, 300*time.Millisecond, 5*time.Second)
	switch b.Fault.Name {
	case slow:
		b.Amount("answers of one of %d upstreams take %v more", len(s.procs), more)
	case down:
		b.Amount("one of %d upstreams is gone", len(s.procs))
	}
	return s
}

package fdlimit

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a server that leaks its descriptors, or has fewer than its
// clients need at once.
var Family = drawn.Family{
	Name: "fd-limit", Kind: drawn.Connections, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP},
	Faults: []drawn.Fault{
		{Name: "leak", Suspects: []string{"fd-limit", "syscall-failing"}, Subject: `token-server|:8443`, Also: []string{"listen-overflow"}, Account: "accept queue"},
		{Name: "too-low", Suspects: []string{"fd-limit", "syscall-failing"}, Subject: `token-server|:8443`, Also: []string{"listen-overflow"}, Account: "accept queue"},
	},
	Build: buildFamily,
}

// own is about how many descriptors the server has without clients.
const own = 8

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	takes := b.Duration("answers take", time.Millisecond, 200*time.Millisecond)
	l := b.LoadOf(800)
	l.Size = min(l.Size, 4096)
	l = l.Within(3*net.RTT + takes)
	l.Fresh = true
	busy := l.Rate * (2*net.RTT + takes).Seconds() // connections at a time
	limit := uint64(4*l.Conns + 64)
	// A leak reaches its limit within a second or two; it may have begun long before.
	left := own + busy + l.Rate*b.LogUniform("seconds until it has leaked all", 0.05, 2)
	low := own + max(1, busy*b.LogUniform("limit, of what is needed", 0.1, 1.2))
	server := b.Actor(net.Server, "token-server", "rr-server", []string{"--listen", net.At(8443), "--wait", takes.String(), "--size", fmt.Sprint(l.Size), "--leaks"})
	b.AwaitPrinted(server, "ready")
	set := func(n uint64) {
		// It may have ended: then the stage says so.
		_ = unix.Prlimit(server.PID, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: limit}, nil)
	}
	set(limit)
	b.Ask(net.Client, "token-client", net.At(8443), l, "--timeout", "3s")
	leak := func() { b.Signal(server, syscall.SIGUSR2) }
	b.Switch("leak", func() { set(uint64(left)); leak() }, func() { leak(); set(limit) })
	b.Switch("too-low", func() { set(uint64(low)) }, func() { set(limit) })
	if b.Fault.Name == "leak" {
		b.Amount("%.0f descriptors leak per second, until there are %.0f", l.Rate, left)
	} else {
		b.Amount("%.0f descriptors for about %.0f connections at a time", low, busy)
	}
}

package servicekilled

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/anyserver"
	"snag/lab/drawn"
)

// Family draws the incident: a service in any language that is killed, or ends by itself
// with an error, and is started again; or a pool whose workers are killed one by one.
var Family = drawn.Family{
	Name: "service-killed", Kind: drawn.Processes, Origin: drawn.Lab, Needs: anyserver.Needs,
	Faults: []drawn.Fault{
		{Name: "killed", Suspects: []string{"service-killed"}, Subject: subject, Also: []string{"peer-reset"}, Account: "errors"},
		{Name: "ends", Suspects: []string{"service-killed"}, Subject: subject, Also: []string{"peer-reset"}, Account: "errors"},
		{Name: "workers-killed", Suspects: []string{"service-killed"}, Subject: subject, Also: []string{"peer-reset"}, Account: "errors"},
	},
	Build: buildFamily,
}

var subject = anyserver.Subject("shop-server|shop-worker|shop-arbiter", ":8000")

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	if b.Fault.Name == "workers-killed" {
		pool(b, net)
		return
	}
	o := anyserver.Ordinary(b, "server")
	const shortest, longest = 100 * time.Millisecond, 3 * time.Second
	o.Start = func(argv []string) *lab.Process {
		return b.Supervised("killed", net.Server, "shop-server", shortest, longest, argv)
	}
	l := o.LoadOf(b, net.RTT, 0)
	l.Fresh = b.Chance("a connection for each request", 0.3)
	server := anyserver.Start(b, net.Server, "shop-server", net.At(8000), o)
	away, lives := b.Duration("killed: away for", shortest, longest), b.Duration("ends: lives for", 2*time.Second, 6*time.Second)
	status := b.Int("status", 1, 127)
	on, off := server.Repeats(fmt.Sprint("die ", status), "", away+lives)
	b.Switch("ends", on, off)
	if b.Fault.Name == "ends" {
		b.Amount("ends with status %d every %v, away for %v", status, away+lives, away)
	}
	b.Ask(net.Client, "shop-client", net.At(8000), l)
}

// pool is a service whose processes share a listening socket.
func pool(b *drawn.Bench, net drawn.Net) {
	workers := b.Int("workers", 2, 8)
	takes := b.Duration("an answer takes", 15*time.Millisecond, 300*time.Millisecond)
	l := b.LoadOf(600).Within(net.RTT + takes)
	l.Fresh = b.Chance("a connection for each request", 0.6)
	// A worker that is killed has its part of what is at work in hand.
	share := b.LogUniform("share of the requests", 0.02, 0.3)
	every := time.Duration(takes.Seconds() / float64(workers) / share * float64(time.Second))
	every = min(3*time.Second, max(100*time.Millisecond, every))
	arbiter := b.Actor(net.Server, "shop-arbiter", "worker-pool", []string{"--listen", net.At(8000), "--worker", "shop-worker", "--workers", fmt.Sprint(workers),
		"--wait", takes.String(), "--size", fmt.Sprint(l.Size), "--kill", "--every", every.String(), "--switched"})
	b.AwaitPrinted(arbiter, "ready")
	turn := func() { b.Signal(arbiter, syscall.SIGUSR1) }
	b.Switch("workers-killed", turn, turn)
	b.Amount("one of %d workers is killed every %v", workers, every)
	b.Ask(net.Client, "shop-client", net.At(8000), l)
}

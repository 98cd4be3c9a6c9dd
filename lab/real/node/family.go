// Package node draws incidents of a program for Node.js, with its http module.
package node

import (
	_ "embed"
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/backend"
)

//go:embed app.js
var app string

// Family is Node.js.
var Family = drawn.Family{
	Name: "node", Kind: drawn.EventLoop, Origin: drawn.Real, Software: []string{"Node.js"},
	Needs: []lab.Tool{lab.IP, {Command: "node", Package: "nodejs"}},
	Faults: []drawn.Fault{
		{Name: "blocked-loop", Suspects: []string{"busy-thread"}, Subject: `node|:3000`, Also: []string{"cpu-saturated", "worker-queue"}, Account: "in line"},
		{Name: "slow-upstream", Suspects: []string{"slow-dependency"}, Subject: backend.Subject, Account: "call"},
		{Name: "upstream-refused", Suspects: []string{"upstream-refused"}, Subject: backend.Subject, Also: []string{"error-answers", "peer-reset"}, Account: "errors"},
		{Name: "small-pool", Suspects: []string{"pool-exhausted"}, Subject: `node|:3000|` + backend.Subject, Account: "in line", Whole: true},
		{Name: "heap-full", Suspects: []string{"heap-full", "runtime-pause"}, Subject: `node|:3000`, Also: []string{"service-killed", "busy-thread", "cpu-saturated"}, Account: "pause"},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	net := b.Net()
	answer := b.Duration("upstream takes", time.Millisecond, 200*time.Millisecond)
	l := backend.Load(b, net, 300, answer, 1)
	slow := min(4*time.Second, time.Duration(float64(answer)*b.LogUniform("upstream gets slower", 2.5, 50)))
	then := "slow"
	if b.Fault.Name == "upstream-refused" {
		then = "refuse"
		b.Amount("the upstream is gone")
	}
	if b.Fault.Name == "slow-upstream" {
		b.Amount("the upstream takes %v, not %v", slow, answer)
	}
	up := backend.Start(b, net.Server, answer, "--then", then, "--slow", slow.String())
	flag := backend.NewFlag(b)
	busy := l.Rate * answer.Seconds()
	pool := 2 + int(3*busy)
	few := max(1, int(busy*b.Uniform("pool for the busy connections", 0.3, 1)))
	if b.Built("small-pool") {
		pool = few
		b.Amount("a pool of %d connections, of which %.1f are busy on average", pool, busy)
	}
	long, share := b.Duration("a calculation takes", 5*time.Millisecond, 400*time.Millisecond), b.LogUniform("share of the thread it takes", 0.15, 1.5)
	share = min(1, share/(l.Rate*long.Seconds()))
	if b.Fault.Name == "blocked-loop" {
		b.Amount("%.1f %% of the requests calculate for %v", 100*share, long)
	}
	heap := b.Int("MiB of heap", 40, 160)
	if b.Fault.Name == "heap-full" {
		b.Amount("a cache fills 90 %% of a heap of %d MiB", heap)
	}
	b.Switch("blocked-loop", flag.On, flag.Off)
	b.Switch("heap-full", flag.On, flag.Off)
	b.Switch("slow-upstream", up.Toggle, up.Toggle)
	b.Switch("upstream-refused", up.Toggle, up.Toggle)
	// Started again when its heap ran over, as a service manager does it.
	again := fmt.Sprintf(`while :; do node --max-old-space-size=%d "$0"; done`, heap)
	server := b.Run(net.Server, "node", []string{"sh", "-c", again, b.File("front.js", app)},
		lab.Env("HOST="+net.Addr), lab.Env("PORT=3000"), lab.Env("UPSTREAM_HOST="+up.Host), lab.Env(fmt.Sprintf("UPSTREAM_PORT=%d", backend.Port)),
		lab.Env("FLAG="+flag.Path), lab.Env("FAULT="+b.Fault.Name), lab.Env(fmt.Sprintf("POOL=%d", pool)),
		lab.Env(fmt.Sprintf("LONG=%g", long.Seconds()*1e3)), lab.Env(fmt.Sprintf("SHARE=%g", share)))
	b.AwaitPrinted(server, "ready")
	pyclient.Start(b, net.Client, "shop-client", "http", net.At(3000), l)
}

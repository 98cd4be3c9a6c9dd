// Package waitress draws incidents of a Python program in the threads of waitress, which
// asks an upstream for each answer.
package waitress

import (
	_ "embed"
	"fmt"
	"math"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/backend"
)

//go:embed app.py
var app string

// Family is waitress.
var Family = drawn.Family{
	Name: "waitress", Kind: drawn.Threads, Origin: drawn.Real, Software: []string{"waitress"},
	Needs: []lab.Tool{lab.IP, {Command: "waitress-serve", Package: "python3-waitress"}},
	Faults: []drawn.Fault{
		{Name: "few-threads", Suspects: []string{"worker-queue"}, Subject: `waitress|:8080`, Account: "in line", Whole: true},
		{Name: "lock-held", Suspects: []string{"lock-convoy"}, Subject: `waitress|:8080`, Also: []string{"worker-queue"}, Account: "lock"},
		{Name: "busy-interpreter", Suspects: []string{"busy-thread", "lock-convoy"}, Subject: `waitress|:8080`, Also: []string{"cpu-saturated", "worker-queue"}, Account: "lock"},
		{Name: "slow-upstream", Suspects: []string{"slow-dependency"}, Subject: backend.Subject, Also: []string{"worker-queue"}, Account: "call"},
		{Name: "few-connections", Suspects: []string{"connection-limit"}, Subject: `waitress|:8080`, Also: []string{"listen-overflow"}, Account: "accept queue", Whole: true},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	net := b.Net()
	busy := b.LogUniform("busy threads", 0.5, 6)
	l := b.LoadOf(200)
	answer := time.Duration(min(400e6, max(2e6, busy/l.Rate*1e9)))
	busy = l.Rate * (answer + 4*time.Millisecond).Seconds()
	b.Values["answers take"] = answer.String()
	l = backend.Load(b, net, 200, answer, 1)
	l.Fresh = b.Chance("a connection for each request", 0.3)
	slow := min(3*time.Second, time.Duration(float64(answer)*b.LogUniform("upstream gets slower", 2.5, 40)))
	up := backend.Start(b, net.Server, answer, "--slow", slow.String())
	threads, limit := 4+int(math.Ceil(3*busy)), 1000
	few := max(1, int(busy*b.Uniform("threads for the busy ones", 0.3, 0.95)))
	statistics := b.Int("threads that calculate", 2, 8)
	switch {
	case b.Built("few-threads"):
		threads = few
		b.Amount("%d threads where %.1f are busy on average", threads, busy)
	case b.Built("few-connections"):
		limit = max(2, l.Conns/2)
		b.Amount("%d connections of %d are taken", limit, l.Conns)
	case b.Fault.Name == "slow-upstream":
		b.Amount("the upstream takes %v, not %v", slow, answer)
	case b.Fault.Name == "lock-held":
		b.Amount("a lock is held for %v in each of %.0f requests per second", answer, l.Rate)
	case b.Fault.Name == "busy-interpreter":
		b.Amount("%d threads calculate in the interpreter", statistics)
	}
	flag := backend.NewFlag(b)
	b.Switch("slow-upstream", up.Toggle, up.Toggle)
	b.Switch("lock-held", flag.On, flag.Off)
	b.Switch("busy-interpreter", flag.On, flag.Off)
	b.Run(net.Server, "waitress", []string{pyclient.Python, b.File("shop.py", app)}, lab.Env("LISTEN="+net.At(8080)), lab.Env("UPSTREAM="+up.Addr),
		lab.Env("FLAG="+flag.Path), lab.Env("FAULT="+b.Fault.Name), lab.Env(fmt.Sprintf("THREADS=%d", threads)),
		lab.Env(fmt.Sprintf("LIMIT=%d", limit)), lab.Env(fmt.Sprintf("STATISTICS=%d", statistics)))
	b.Await("waitress to listen", 20*time.Second, b.Listens(net.Server, ":8080"))
	pyclient.Start(b, net.Client, "shop-client", "http", net.At(8080), l)
}

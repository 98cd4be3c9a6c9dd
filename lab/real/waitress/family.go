// Package waitress draws incidents of a Python program in the threads of waitress, which
// asks an upstream for each answer.
package waitress

import (
	_ "embed"
	"fmt"
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
	a := backend.NewApp(b, backend.AppSize{Workers: "threads", Least: 0.5, Most: 6, Capacity: 200, Own: 4 * time.Millisecond, Longest: 400 * time.Millisecond, Trips: 1}, "")
	a.Load.Fresh = b.Chance("a connection for each request", 0.3)
	threads, limit := a.Enough(4, 3), 1000
	statistics := b.Int("threads that calculate", 2, 8)
	switch {
	case a.BuiltWithFew("few-threads", ""):
		threads = a.Few
	case b.Built("few-connections"):
		limit = max(2, a.Load.Conns/2)
		b.Amount("%d connections of %d are taken", limit, a.Load.Conns)
	case b.Fault.Name == "busy-interpreter":
		b.Amount("%d threads calculate in the interpreter", statistics)
	}
	a.AmountOfLock("lock-held")
	a.Flagged("lock-held", "busy-interpreter")
	b.Run(a.Server, "waitress", []string{pyclient.Python, b.File("shop.py", app)}, a.Env("LISTEN="+a.At(8080),
		fmt.Sprintf("THREADS=%d", threads), fmt.Sprintf("LIMIT=%d", limit), fmt.Sprintf("STATISTICS=%d", statistics))...)
	b.Await("waitress to listen", 20*time.Second, b.Listens(a.Server, ":8080"))
	pyclient.Start(b, a.Client, "shop-client", "http", a.At(8080), a.Load)
}

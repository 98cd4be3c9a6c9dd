// Package uwsgi draws incidents of a Python program in the processes of uWSGI.
package uwsgi

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/backend"
)

// Family is uWSGI.
var Family = drawn.Family{
	Name: "uwsgi", Kind: drawn.Processes, Origin: drawn.Real, Software: []string{"uWSGI"},
	Needs: []lab.Tool{lab.IP, {Command: "uwsgi", Package: "uwsgi-core"}},
	Faults: []drawn.Fault{
		{Name: "few-processes", Suspects: []string{"worker-queue"}, Subject: `uwsgi|:9090`, Also: []string{"listen-overflow"}, Account: "in line", Whole: true},
		{Name: "short-listen-queue", Suspects: []string{"listen-overflow", "worker-queue"}, Subject: `uwsgi|:9090`, Account: "accept queue", Whole: true},
		{Name: "harakiri", Suspects: []string{"service-killed", "slow-dependency"}, Subject: `uwsgi|:9090|` + backend.Subject, Also: []string{"worker-queue", "peer-reset", "listen-overflow"}, Account: "call"},
		{Name: "recycled-workers", Suspects: []string{"service-killed", "worker-queue"}, Subject: `uwsgi|:9090`, Also: []string{"listen-overflow"}, Account: "in line", Whole: true},
		{Name: "slow-upstream", Suspects: []string{"slow-dependency"}, Subject: backend.Subject, Also: []string{"worker-queue", "listen-overflow"}, Account: "call"},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	share := b.LogUniform("share that is never answered", 0.01, 0.2)
	a := backend.NewApp(b, backend.AppSize{Workers: "processes", Least: 0.4, Most: 6, Capacity: 300, Own: 4 * time.Millisecond, Longest: 400 * time.Millisecond, Trips: 2},
		"harakiri", "--then", "silent", "--share", fmt.Sprint(share))
	processes, queue, recycled := a.Enough(2, 2.5), 128, 1000000
	short := b.Int("short queue", 1, 6)
	// Of all requests, some wait until a process has started again.
	startup := b.Uniform("seconds to start", 0.3, 1.5)
	gone := b.Uniform("share of the time that a process starts", 0.6, 0.95)
	args := []string{"--add-header", "Connection: close"} // http-socket ends the connection without saying so
	env := a.Env()
	switch {
	case a.BuiltWithFew("few-processes", ""):
		processes = a.Few
	case a.BuiltWithFew("short-listen-queue", ", and a listen queue of %d", short):
		processes, queue = a.Few, short
	case b.Fault.Name == "recycled-workers":
		args = append(args, "--lazy-apps")
		env = append(env, lab.Env(fmt.Sprintf("STARTUP=%.2f", startup)))
		if b.Built("recycled-workers") {
			recycled = max(1, int((1-gone)/gone*startup*a.Load.Rate/float64(processes)))
			b.Amount("each of %d processes starts again after %d requests, in %.1f s", processes, recycled, startup)
		}
	case b.Fault.Name == "harakiri":
		args = append(args, "--harakiri", "1")
		b.Amount("%.1f %% of the calls are never answered, and processes are killed after 1 s", 100*share)
	}
	b.File("shop.py", backend.Shop)
	server := b.Run(a.Server, "uwsgi", append([]string{"uwsgi", "--plugin", "python3", "--http-socket", a.At(9090), "--listen", fmt.Sprint(queue), "--master", "--need-app",
		"--chdir", b.Dir(), "--module", "shop", "--processes", fmt.Sprint(processes), "--max-requests", fmt.Sprint(recycled), "--min-worker-lifetime", "0", "--disable-logging"}, args...), env...)
	b.AwaitPrinted(server, "spawned uWSGI worker")
	pyclient.Start(b, a.Client, "shop-client", "http", a.At(9090), a.Load)
}

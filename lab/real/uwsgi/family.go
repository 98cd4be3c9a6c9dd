// Package uwsgi draws incidents of a Python program in the processes of uWSGI.
package uwsgi

import (
	"fmt"
	"math"
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
	net := b.Net()
	busy := b.LogUniform("busy processes", 0.4, 6)
	l := b.LoadOf(300)
	answer := time.Duration(min(400e6, max(2e6, busy/l.Rate*1e9)))
	busy = l.Rate * (answer + 4*time.Millisecond).Seconds()
	b.Values["answers take"] = answer.String()
	l = backend.Load(b, net, 300, answer, 2)
	slow := min(3*time.Second, time.Duration(float64(answer)*b.LogUniform("upstream gets slower", 2.5, 40)))
	share := b.LogUniform("share that is never answered", 0.01, 0.2)
	then := []string{"--slow", slow.String()}
	if b.Fault.Name == "harakiri" {
		then = []string{"--then", "silent", "--share", fmt.Sprint(share)}
		b.Amount("%.1f %% of the calls are never answered, and processes are killed after 1 s", 100*share)
	}
	up := backend.Start(b, net.Server, answer, then...)
	processes, queue, recycled := 2+int(math.Ceil(2.5*busy)), 128, 1000000
	few := max(1, int(busy*b.Uniform("processes for the busy ones", 0.3, 0.95)))
	short := b.Int("short queue", 1, 6)
	// Of all requests, some wait until a process has started again.
	startup := b.Uniform("seconds to start", 0.3, 1.5)
	gone := b.Uniform("share of the time that a process starts", 0.6, 0.95)
	switch {
	case b.Built("few-processes"):
		processes = few
		b.Amount("%d processes where %.1f are busy on average", few, busy)
	case b.Built("short-listen-queue"):
		processes, queue = few, short
		b.Amount("%d processes where %.1f are busy on average, and a listen queue of %d", few, busy, short)
	case b.Built("recycled-workers"):
		recycled = max(1, int((1-gone)/gone*startup*l.Rate/float64(processes)))
		b.Amount("each of %d processes starts again after %d requests, in %.1f s", processes, recycled, startup)
	case b.Fault.Name == "slow-upstream":
		b.Amount("the upstream takes %v, not %v", slow, answer)
	}
	b.Switch("slow-upstream", up.Toggle, up.Toggle)
	b.Switch("harakiri", up.Toggle, up.Toggle)
	b.File("shop.py", backend.Shop)
	args := []string{"uwsgi", "--plugin", "python3", "--http-socket", net.At(9090), "--listen", fmt.Sprint(queue), "--master", "--need-app", "--chdir", b.Dir(),
		"--module", "shop", "--processes", fmt.Sprint(processes), "--max-requests", fmt.Sprint(recycled), "--min-worker-lifetime", "0", "--disable-logging",
		"--add-header", "Connection: close"} // http-socket ends the connection without saying so
	opts := []lab.Option{lab.Env("UPSTREAM=" + up.Addr)}
	switch b.Fault.Name {
	case "harakiri":
		args = append(args, "--harakiri", "1")
	case "recycled-workers":
		args = append(args, "--lazy-apps")
		opts = append(opts, lab.Env(fmt.Sprintf("STARTUP=%.2f", startup)))
	}
	server := b.Run(net.Server, "uwsgi", args, opts...)
	b.AwaitPrinted(server, "spawned uWSGI worker")
	pyclient.Start(b, net.Client, "shop-client", "http", net.At(9090), l)
}

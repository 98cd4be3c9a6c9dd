// Package phpfpm draws incidents of PHP-FPM behind nginx, over a UNIX socket.
package phpfpm

import (
	_ "embed"
	"fmt"
	"math"
	"os"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/backend"
)

//go:embed shop.php
var script string

//go:embed pool.conf
var pool string

//go:embed nginx.conf
var nginx string

const fpm = "php-fpm8.2"

// Family is PHP-FPM.
var Family = drawn.Family{
	Name: "php-fpm", Kind: drawn.Processes, Origin: drawn.Real, Software: []string{"PHP-FPM", "nginx"},
	Needs: []lab.Tool{lab.IP, {Command: fpm, Package: "php8.2-fpm"}, {Command: "nginx", Package: "nginx"}},
	Faults: []drawn.Fault{
		{Name: "few-children", Suspects: []string{"worker-queue", "unix-backlog"}, Subject: `php|\.sock`, Account: "in line", Whole: true},
		{Name: "backlog-full", Suspects: []string{"unix-backlog", "worker-queue"}, Subject: `php|\.sock`, Also: []string{"error-answers", "upstream-refused"}, Account: "errors", Whole: true},
		{Name: "session-lock", Suspects: []string{"lock-convoy", "session-lock"}, Subject: `php|\.sock|sess_`, Also: []string{"worker-queue"}, Account: "lock"},
		{Name: "slow-upstream", Suspects: []string{"slow-dependency"}, Subject: backend.Subject, Also: []string{"worker-queue"}, Account: "call"},
		{Name: "fatal-error", Suspects: []string{"error-answers"}, Subject: `php|nginx|:80\b|\.sock`, Account: "errors"},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	net := b.Net()
	busy := b.LogUniform("busy children", 0.5, 8)
	l := b.LoadOf(400)
	answer := time.Duration(min(400e6, max(2e6, busy/l.Rate*1e9)))
	busy = l.Rate * (answer + 3*time.Millisecond).Seconds()
	b.Values["answers take"] = answer.String()
	l = backend.Load(b, net, 400, answer, 1)
	l.Fresh = b.Chance("a connection for each request", 0.3)
	slow := min(3*time.Second, time.Duration(float64(answer)*b.LogUniform("upstream gets slower", 2.5, 40)))
	up := backend.Start(b, net.Server, answer, "--slow", slow.String())
	children, backlog := 3+int(math.Ceil(2.5*busy)), 511
	few := max(1, int(busy*b.Uniform("children for the busy ones", 0.3, 0.95)))
	short := b.Int("short backlog", 1, 8)
	sessions := max(1, int(busy*b.Uniform("sessions for the busy children", 0.1, 0.8)))
	share := b.LogUniform("share of baskets that are too large", 0.02, 0.4)
	switch {
	case b.Built("few-children"):
		children = few
		b.Amount("%d children where %.1f are busy on average", few, busy)
	case b.Built("backlog-full"):
		children, backlog = few, short
		b.Amount("%d children where %.1f are busy on average, and a backlog of %d", few, busy, short)
	case b.Fault.Name == "slow-upstream":
		b.Amount("the upstream takes %v, not %v", slow, answer)
	case b.Fault.Name == "session-lock":
		b.Amount("%d sessions, each locked for %v", sessions, answer)
	case b.Fault.Name == "fatal-error":
		b.Amount("%.1f %% of the requests need more than memory_limit", 100*share)
	}
	flag := backend.NewFlag(b)
	b.Switch("session-lock", flag.On, flag.Off)
	b.Switch("fatal-error", flag.On, flag.Off)
	b.Switch("slow-upstream", up.Toggle, up.Toggle)
	if err := os.MkdirAll(b.Dir()+"/sessions", 0o755); err != nil {
		b.Fail("php-fpm", err)
		return
	}
	b.File("shop.php", script)
	b.Run(net.Server, "php-fpm", []string{fpm, "-F", "-R", "-y", b.File("pool.conf", fmt.Sprintf(pool, b.Dir(), backlog, children))},
		lab.Env("UPSTREAM="+up.Addr), lab.Env("FLAG="+flag.Path), lab.Env("FAULT="+b.Fault.Name),
		lab.Env(fmt.Sprintf("SESSIONS=%d", sessions)), lab.Env(fmt.Sprintf("SHARE=%d", int(1000*share))))
	b.Await("PHP-FPM to listen", 20*time.Second, func() (bool, error) {
		_, err := os.Stat(b.Dir() + "/php.sock")
		return err == nil, nil
	})
	conf := b.File("nginx.conf", fmt.Sprintf(nginx, b.Dir(), net.Addr))
	b.Run(net.Server, "nginx", []string{"nginx", "-c", conf, "-p", b.Dir(), "-g", "daemon off; user root;"})
	b.Await("nginx to listen", 10*time.Second, b.Listens(net.Server, ":80"))
	pyclient.Start(b, net.Client, "shop-client", "http", net.At(80), l)
}

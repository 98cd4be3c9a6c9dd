// Package phpfpm draws incidents of PHP-FPM behind nginx, over a UNIX socket.
package phpfpm

import (
	_ "embed"
	"fmt"
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
	a := backend.NewApp(b, backend.AppSize{Workers: "children", Least: 0.5, Most: 8, Capacity: 400, Own: 3 * time.Millisecond, Longest: 400 * time.Millisecond, Trips: 1}, "")
	a.Load.Fresh = b.Chance("a connection for each request", 0.3)
	children, backlog := a.Enough(3, 2.5), 511
	short := b.Int("short backlog", 1, 8)
	sessions := max(1, int(a.Busy*b.Uniform("sessions for the busy children", 0.1, 0.8)))
	share := b.LogUniform("share of baskets that are too large", 0.02, 0.4)
	switch {
	case a.BuiltWithFew("few-children", ""):
		children = a.Few
	case a.BuiltWithFew("backlog-full", ", and a backlog of %d", short):
		children, backlog = a.Few, short
	case b.Fault.Name == "session-lock":
		b.Amount("%d sessions, each locked for %v", sessions, a.Answer)
	case b.Fault.Name == "fatal-error":
		b.Amount("%.1f %% of the requests need more than memory_limit", 100*share)
	}
	a.Flagged("session-lock", "fatal-error")
	if err := os.MkdirAll(b.Dir()+"/sessions", 0o755); err != nil {
		b.Fail("php-fpm", err)
		return
	}
	b.File("shop.php", script)
	b.Run(a.Server, "php-fpm", []string{fpm, "-F", "-R", "-y", b.File("pool.conf", fmt.Sprintf(pool, b.Dir(), backlog, children))},
		a.Env(fmt.Sprintf("SESSIONS=%d", sessions), fmt.Sprintf("SHARE=%d", int(1000*share)))...)
	b.Await("PHP-FPM to listen", 20*time.Second, func() (bool, error) {
		_, err := os.Stat(b.Dir() + "/php.sock")
		return err == nil, nil
	})
	conf := b.File("nginx.conf", fmt.Sprintf(nginx, b.Dir(), a.Addr))
	b.Run(a.Server, "nginx", []string{"nginx", "-c", conf, "-p", b.Dir(), "-g", "daemon off; user root;"})
	b.Await("nginx to listen", 10*time.Second, b.Listens(a.Server, ":80"))
	pyclient.Start(b, a.Client, "shop-client", "http", a.At(80), a.Load)
}

// Package squid draws incidents of a Squid through which clients reach the web.
package squid

import (
	_ "embed"
	"fmt"
	"math"
	"path/filepath"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/backend"
	"snag/lab/real/datadir"
)

//go:embed filter.py
var filter string

const (
	subject = `squid|:3128`
	origin  = `web-origin|10\.0\.0\.1`
)

// Family draws a Squid that is a forward proxy.
var Family = drawn.Family{
	Name: "squid", Kind: drawn.Proxy, Origin: drawn.Real, Software: []string{"Squid"},
	Needs: []lab.Tool{lab.IP, lab.Unshare, {Command: "squid", Package: "squid"}, {Command: pyclient.Python, Package: "python3"}},
	Faults: []drawn.Fault{
		{Name: "slow-origin", Suspects: []string{"slow-dependency"}, Subject: origin, Account: "sleep"},
		{Name: "origin-stopped", Suspects: []string{"process-stopped"}, Subject: origin, Also: []string{"slow-dependency", "error-answers"}, Account: "stopped"},
		{Name: "slow-names", Suspects: []string{"slow-dependency"}, Subject: backend.NamesSubject, Also: []string{"error-answers"}, Account: "call"},
		{Name: "few-helpers", Suspects: []string{"pool-exhausted", "worker-queue"}, Subject: subject + `|url-filter`, Also: []string{"slow-dependency"}, Account: "in line", Whole: true},
		{Name: "file-descriptors", Suspects: []string{"fd-limit", "connection-limit"}, Subject: subject + `|leaky-app`, Also: []string{"listen-overflow"}, Account: "accept queue"},
		{Name: "connections-per-client", Suspects: []string{"connection-limit", "error-answers"}, Subject: subject, Account: "errors", Whole: true},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	n := b.Net()
	l := b.LoadOf(400)
	takes := b.Duration("the web's answers take", time.Millisecond, 200*time.Millisecond)
	checks := b.Duration("a look at the list takes", time.Millisecond, 20*time.Millisecond)
	helpers := 0
	if b.Chance("URLs are filtered", 0.3) || b.Fault.Name == "few-helpers" {
		// One helper alone is too few, and a dozen of them are enough.
		checks = min(max(checks, time.Duration(1.5/l.Rate*1e9)), time.Duration(4/l.Rate*1e9))
		helpers = 2 + int(math.Ceil(2.5*l.Rate*checks.Seconds()))
	}
	switch l.Fresh = b.Chance("a connection for each request", 0.3); b.Fault.Name {
	case "file-descriptors":
		l.Fresh = true
	case "connections-per-client":
		l.Conns, l.Fresh = max(l.Conns, 8), false
	}
	l = l.Within(takes + checks + n.Trips(l, 1, 2))
	b.Values["a look at the list takes"] = checks.Seconds()

	more := b.Duration("slow answers take", 20*time.Millisecond, 3*time.Second)
	web := b.Netns("web")
	b.Veth(lab.End{Netns: n.Server, Device: "eth1", Addr: "10.0.0.2/24"}, lab.End{Netns: web, Device: "eth0", Addr: "10.0.0.1/24"}) // the address of every name
	site := b.Actor(web, "web-origin", "http-upstream", []string{"--listen", "10.0.0.1:80", "--size", fmt.Sprint(l.Size), "--wait", takes.String(), "--slow", more.String()})
	b.AwaitPrinted(site, "ready")
	toggle := func() { b.Signal(site, syscall.SIGUSR2) }
	b.Switch("slow-origin", toggle, toggle)
	b.SwitchStops("origin-stopped", site.PID, 300*time.Millisecond, 5*time.Second)

	late := b.Duration("slow names take", 100*time.Millisecond, 4*time.Second)
	names := backend.StartNames(b, n.Server, "--wait", b.Duration("names take", time.Millisecond, 30*time.Millisecond).String(), "--ttl", "1", "--then", "slow", "--slow", late.String())
	b.Switch("slow-names", names.Toggle, names.Toggle)

	descriptors, perClient := 4096, 0
	few := 2*l.Conns + b.Int("descriptors to spare", 100, 300)
	if b.Fault.Name == "file-descriptors" {
		descriptors = few
	}
	if share := b.Uniform("connections allowed, of the clients'", 0.3, 0.95); b.Built("connections-per-client") {
		perClient = max(1, int(share*float64(l.Conns)))
		b.Amount("%d connections of each address, for %d clients of one", perClient, l.Conns)
	}
	if share := b.Uniform("helpers, of the busy ones", 0.3, 0.95); b.Built("few-helpers") {
		helpers = max(1, int(share*l.Rate*checks.Seconds()))
		b.Amount("%d helpers that take %v for each of %.0f requests per second", helpers, checks, l.Rate)
	}
	serve(b, n, names.Addr, descriptors, perClient, helpers, checks)
	pyclient.Start(b, n.Client, "browser", "proxied", n.At(3128), l, fmt.Sprintf("names=%d", b.Int("names of sites", 10, 500)), fmt.Sprintf("timeout=%.1f", b.LogUniform("clients give up after s", 1, 20)))

	pyclient.SwitchSessions(b, "file-descriptors", n.Client, "leaky-app", pyclient.Sessions{Protocol: "proxied", To: n.At(3128), Conns: few, Do: []string{"connect"}})
	switch b.Fault.Name {
	case "slow-origin":
		b.Amount("answers of the web take %v more", more)
	case "slow-names":
		b.Amount("names take %v", late)
	case "file-descriptors":
		b.Amount("%d descriptors, and %d connections of a program that asks nothing", few, few)
	}
}

func serve(b *drawn.Bench, n drawn.Net, resolver string, descriptors, perClient, helpers int, checks time.Duration) {
	dir := filepath.Join(b.Dir(), "squid")
	datadir.For(b, dir, "proxy")
	conf := fmt.Sprintf(`http_port %s
visible_hostname proxy
cache deny all
memory_cache_shared off
access_log none
cache_log %s/cache.log
coredump_dir %s
pid_filename none
netdb_filename none
pinger_enable off
shutdown_lifetime 0 seconds
cache_effective_user proxy
dns_nameservers %s
max_filedescriptors %d
connect_timeout 5 seconds
read_timeout %d seconds
`, n.At(3128), dir, dir, resolver, descriptors, b.Int("read_timeout s", 2, 60))
	if perClient > 0 {
		conf += fmt.Sprintf("acl many maxconn %d\nhttp_access deny many\n", perClient)
	}
	if helpers > 0 {
		conf += fmt.Sprintf("url_rewrite_program %s %s %g\nurl_rewrite_children %d startup=%d idle=1\n", pyclient.Python, b.File("filter.py", filter), checks.Seconds(), helpers, helpers)
	}
	// It leaves shared memory behind when it is killed, so it gets a /dev/shm of its own.
	b.Run(n.Server, "squid", []string{"unshare", "-m", "sh", "-c", `mount -t tmpfs tmpfs /dev/shm && exec "$@"`, "sh",
		"squid", "-N", "-f", b.File("squid.conf", conf+"http_access allow all\n")})
	b.Await("Squid to listen", 20*time.Second, b.Listens(n.Server, ":3128"))
}

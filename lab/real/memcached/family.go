// Package memcached draws incidents of memcached, whose clients are pymemcache's.
package memcached

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/datadir"
)

const subject = `memcached|:11211`

// Family draws a memcached server.
var Family = drawn.Family{
	Name: "memcached", Kind: drawn.Cache, Origin: drawn.Real, Software: []string{"memcached", "pymemcache"},
	Needs: []lab.Tool{lab.IP, {Command: "memcached", Package: "memcached"}, {Command: pyclient.Python, Package: "python3-pymemcache"}},
	Faults: []drawn.Fault{
		{Name: "too-many-connections", Suspects: []string{"connection-limit", "listen-overflow"}, Subject: subject + `|leaky-app`, Also: []string{"error-answers"}, Account: "accept queue"},
		{Name: "huge-multigets", Suspects: []string{"busy-thread", "cpu-saturated"}, Subject: subject + `|report-job`, Also: []string{"slow-dependency", "run-queue-wait"}, Account: "work"},
		{Name: "stopped", Suspects: []string{"process-stopped"}, Subject: subject, Also: []string{"slow-dependency"}, Account: "stopped"},
		{Name: "cpu-quota", Suspects: []string{"cpu-throttled"}, Subject: subject + `|-cache`, Also: []string{"slow-dependency"}, Account: "quota"},
		{Name: "packet-loss", Suspects: []string{"packet-loss"}, Subject: subject + `|page-app|10\.77\.`, Also: []string{"slow-dependency"}, Account: "loss"},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	net := b.NetOver(b.Fault.Name == "packet-loss", "--loss", fmt.Sprint(b.LogUniform("packets lost", 0.01, 0.2)))
	cpu := b.Cgroup("cache", 0)
	threads := b.Int("threads", 1, 4)
	if b.Fault.Name == "huge-multigets" {
		threads = 1
	}
	most := b.Int("connection limit", 120, 300)
	refuse := b.Chance("refuses beyond the limit", 0.5) // else it stops accepting
	argv := []string{"memcached", "-p", "11211", "-l", net.Addr, "-t", fmt.Sprint(threads), "-c", fmt.Sprint(most), "-m", "256"}
	if !refuse {
		argv = append(argv, "-o", "no_maxconns_fast")
	}
	server := b.Run(net.Server, "memcached", datadir.As("nobody:nogroup", argv...), lab.In(cpu))
	b.Await("memcached to listen", 10*time.Second, b.Listens(net.Server, ":11211"))

	l := b.LoadOf(800)
	if b.Fault.Name == "cpu-quota" { // the least quota is 1 % of a CPU
		l.Rate = max(l.Rate, b.Uniform("requests per second, where there is a quota", 150, 400))
		l.Conns = max(l.Conns, 2)
	}
	if l.Fresh = b.Chance("a connection for each request", 0.2) || b.Fault.Name == "too-many-connections"; l.Fresh {
		l.Rate, l.Conns = min(l.Rate, 150), min(l.Conns, 100)
	}
	l = l.Within(net.Trips(l, 1, 3))
	keys, writes := b.Int("keys", 10, 10_000), b.Uniform("share of writes", 0.05, 0.9)
	pyclient.Start(b, net.Client, "page-app", "memcached", net.At(11211), l, fmt.Sprintf("keys=%d", keys), fmt.Sprintf("writes=%.3f", writes), fmt.Sprintf("size=%d", l.Size),
		fmt.Sprintf("timeout=%.1f", b.LogUniform("clients give up after s", 0.5, 10)))

	pyclient.SwitchSessions(b, "too-many-connections", net.Client, "leaky-app", pyclient.Sessions{Protocol: "memcached", To: net.At(11211), Conns: most})
	n, size := b.Int("keys of a multiget", 1000, 20_000), b.Int("bytes of a value of a multiget", 500, 30_000)
	n = min(n, 100_000_000/size)
	jobs, every := b.Int("clients with multigets", 2, 12), b.Duration("multigets every", time.Millisecond, 30*time.Millisecond)
	// They come from the server's own host: no path between them holds them back.
	pyclient.SwitchSessions(b, "huge-multigets", net.Server, "report-job", pyclient.Sessions{Protocol: "memcached", To: net.At(11211), Conns: jobs, Every: every,
		Do: []string{fmt.Sprintf("fill big %d %d", n, size), fmt.Sprintf("get big %d", n)}})
	b.SwitchStops("stopped", server.PID, 300*time.Millisecond, 5*time.Second)
	b.SwitchQuota("cpu-quota", cpu, b.LogUniform("quota", 0.01, 0.03))
	b.Switch("packet-loss", net.Break, net.Break)
	switch b.Fault.Name {
	case "huge-multigets":
		b.Amount("%d clients ask for %d keys of %d bytes at once", jobs, n, size)
	case "packet-loss":
		b.Amount("%.1f %% of the packets lost each way", 100*b.Values["packets lost"].(float64))
	case "too-many-connections":
		b.Amount("%d connections are allowed; beyond that it refuses: %v", most, refuse)
	}
}

// Package apache draws incidents of Apache httpd in front of an upstream, which writes its
// log into a pipe.
package apache

import (
	_ "embed"
	"fmt"
	"math"
	"strings"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/backend"
)

//go:embed httpd.conf
var httpd string

//go:embed audit.py
var audit string

// Family is Apache httpd.
var Family = drawn.Family{
	Name: "apache", Kind: drawn.Threads, Origin: drawn.Real, Software: []string{"Apache httpd"},
	Needs: []lab.Tool{lab.IP, {Command: "apache2", Package: "apache2"}},
	Faults: []drawn.Fault{
		{Name: "few-workers", Suspects: []string{"worker-queue", "connection-limit"}, Subject: `apache2|:80\b`, Also: []string{"listen-overflow"}, Account: "in line", Whole: true},
		{Name: "small-pool", Suspects: []string{"pool-exhausted"}, Subject: `apache2|:80\b|` + backend.Subject, Also: []string{"worker-queue", "error-answers"}, Account: "in line", Whole: true},
		{Name: "slow-log", Suspects: []string{"receiver-too-slow", "slow-consumer"}, Subject: `audit-log|apache2|pipe`, Also: []string{"worker-queue"}, Account: "pipe"},
		{Name: "slow-upstream", Suspects: []string{"slow-dependency"}, Subject: backend.Subject, Also: []string{"worker-queue"}, Account: "call"},
		{Name: "upstream-refused", Suspects: []string{"upstream-refused"}, Subject: backend.Subject, Also: []string{"error-answers", "peer-reset"}, Account: "errors"},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	net := b.Net()
	busy := b.LogUniform("busy workers", 0.5, 12)
	l := b.LoadOf(300)
	answer := time.Duration(min(400e6, max(2e6, busy/l.Rate*1e9)))
	busy = l.Rate * (answer + 2*time.Millisecond).Seconds()
	b.Values["answers take"] = answer.String()
	l = backend.Load(b, net, 300, answer, 1)
	l.Fresh = b.Chance("a connection for each request", 0.3)
	slow := min(3*time.Second, time.Duration(float64(answer)*b.LogUniform("upstream gets slower", 2.5, 40)))
	then := "slow"
	if b.Fault.Name == "upstream-refused" {
		then = "refuse"
	}
	up := backend.Start(b, net.Server, answer, "--then", then, "--slow", slow.String())
	threads, workers, pool := 25, 400, 400
	few := max(1, int(busy*b.Uniform("workers for the busy ones", 0.3, 0.95)))
	late := time.Duration(b.Uniform("times that the slow log falls behind", 1.1, 4) / l.Rate * 1e9)
	switch {
	case b.Built("few-workers"):
		threads, workers = few, few
		b.Amount("%d workers where %.1f are busy on average", few, busy)
	case b.Built("small-pool"):
		pool, threads, workers = few, int(math.Max(25, float64(2*few))), 400
		b.Amount("%d connections to the upstream where %.1f are busy on average", few, busy)
	case b.Fault.Name == "slow-upstream":
		b.Amount("the upstream takes %v, not %v", slow, answer)
	case b.Fault.Name == "upstream-refused":
		b.Amount("the upstream is gone")
	case b.Fault.Name == "slow-log":
		b.Amount("a line of the log takes %v, at %.0f per second", late, l.Rate)
	}
	if pool == few { // of each process: one has them all
		workers = threads
	}
	flag := backend.NewFlag(b)
	b.Switch("slow-log", flag.On, flag.Off)
	b.Switch("slow-upstream", up.Toggle, up.Toggle)
	b.Switch("upstream-refused", up.Toggle, up.Toggle)
	logger := fmt.Sprintf("%s %s %s %.5f", pyclient.Python, b.File("audit.py", audit), flag.Path, late.Seconds())
	// What clients say of themselves makes a line of the audit log long.
	conf := fmt.Sprintf(httpd, b.Dir(), net.Addr, "/usr/lib/apache2/modules", strings.Repeat("agent ", 300), logger, threads, workers, up.Addr, pool)
	b.Run(net.Server, "apache2", []string{"apache2", "-f", b.File("httpd.conf", conf), "-DFOREGROUND"})
	b.Await("Apache to listen", 20*time.Second, b.Listens(net.Server, ":80"))
	pyclient.Start(b, net.Client, "shop-client", "http", net.At(80), l)
}

// Package dns draws incidents of resolvers, unbound and dnsmasq, which forward what they do
// not know to another.
package dns

import (
	_ "embed"
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/backend"
)

//go:embed unbound.conf
var unboundConf string

func upstreamFaults() []drawn.Fault {
	return []drawn.Fault{
		{Name: "slow-upstream", Suspects: []string{"slow-dependency"}, Subject: backend.NamesSubject, Account: "call"},
		{Name: "silent-upstream", Suspects: []string{"slow-dependency", "packet-loss"}, Subject: backend.NamesSubject, Also: []string{"error-answers"}, Account: "call"},
		{Name: "servfail", Suspects: []string{"error-answers"}, Subject: backend.NamesSubject, Also: []string{"slow-dependency"}, Account: "errors"},
	}
}

// Unbound is the resolver of that name.
var Unbound = drawn.Family{
	Name: "unbound", Kind: drawn.DNS, Origin: drawn.Real, Software: []string{"unbound"},
	Needs: []lab.Tool{lab.IP, {Command: "unbound", Package: "unbound"}},
	Faults: append(upstreamFaults(),
		drawn.Fault{Name: "rate-limit", Suspects: []string{"connection-limit"}, Subject: `unbound|:53\b`, Account: "errors", Whole: true},
		drawn.Fault{Name: "few-queries", Suspects: []string{"pool-exhausted", "worker-queue"}, Subject: `unbound|:53\b`, Account: "in line", Whole: true}),
	Build: func(b *drawn.Bench) {
		c := prepare(b)
		threads, ports, queries, limit := b.Int("threads", 1, 4), 512, 256, 0
		few := max(1, int(c.busy*b.Uniform("queries for the busy ones", 0.2, 0.8)))
		taken := b.Uniform("share that the rate limit lets through", 0.2, 0.95)
		switch {
		case b.Built("rate-limit"):
			limit = max(1, int(c.load.Rate*taken))
			b.Amount("%d of %.0f queries per second", limit, c.load.Rate)
		case b.Built("few-queries"):
			threads, ports, queries = 1, max(8, few), few
			b.Amount("%d queries at a time where %.1f are under way on average", few, c.busy)
		}
		conf := b.File("unbound.conf", fmt.Sprintf(unboundConf, c.net.Addr, b.Dir(), c.names.Addr, threads, ports, queries, limit))
		b.Run(c.net.Server, "unbound", []string{"unbound", "-d", "-c", conf})
		c.start(b)
	},
}

// Dnsmasq is the resolver of that name.
var Dnsmasq = drawn.Family{
	Name: "dnsmasq", Kind: drawn.DNS, Origin: drawn.Real, Software: []string{"dnsmasq"},
	Needs: []lab.Tool{lab.IP, {Command: "dnsmasq", Package: "dnsmasq-base"}},
	Faults: append(upstreamFaults(),
		drawn.Fault{Name: "few-forwards", Suspects: []string{"pool-exhausted", "connection-limit"}, Subject: `dnsmasq|:53\b`, Also: []string{"error-answers"}, Account: "errors", Whole: true}),
	Build: func(b *drawn.Bench) {
		c := prepare(b)
		forwards, few := 1000, max(1, int(c.busy*b.Uniform("forwards for the busy ones", 0.2, 0.8)))
		if b.Built("few-forwards") {
			forwards = few
			b.Amount("%d queries forwarded at a time where %.1f are under way on average", few, c.busy)
		}
		b.Run(c.net.Server, "dnsmasq", []string{"dnsmasq", "--no-daemon", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=root", "--pid-file=",
			"--bind-interfaces", "--listen-address=" + c.net.Addr, "--server=" + c.names.Addr, "--cache-size=1000", fmt.Sprintf("--dns-forward-max=%d", forwards)})
		c.start(b)
	},
}

type resolver struct {
	net   drawn.Net
	load  drawn.Load
	known float64
	busy  float64 // queries under way to the upstream, on average
	names backend.Names
}

// prepare makes what both resolvers stand between: clients and an upstream.
func prepare(b *drawn.Bench) resolver {
	c := resolver{net: b.Net(), known: b.Uniform("share of known names", 0, 0.8)}
	answer := b.Duration("upstream takes", time.Millisecond, 120*time.Millisecond)
	c.load = backend.Load(b, c.net, 600, answer, 1)
	c.busy = c.load.Rate * (1 - c.known) * answer.Seconds()
	slow := min(2*time.Second, time.Duration(float64(answer)*b.LogUniform("upstream gets slower", 3, 40)))
	share := b.Uniform("share of the answers", 0.3, 1)
	flags := []string{"--wait", answer.String(), "--ttl", "300"}
	switch b.Fault.Name {
	case "slow-upstream":
		flags = append(flags, "--then", "slow", "--slow", slow.String())
		b.Amount("the upstream takes %v, not %v", slow, answer)
	case "silent-upstream":
		flags = append(flags, "--then", "silent", "--share", fmt.Sprint(share))
		b.Amount("%.0f %% of the upstream's answers are missing", 100*share)
	case "servfail":
		flags = append(flags, "--then", drawn.Pick(b.Draw, "error", "servfail", "refused"), "--share", fmt.Sprint(share))
		b.Amount("%.0f %% of the upstream's answers are errors", 100*share)
	}
	c.names = backend.StartNames(b, c.net.Server, flags...)
	for _, f := range upstreamFaults() {
		b.Switch(f.Name, c.names.Toggle, c.names.Toggle)
	}
	return c
}

// start starts the clients of a resolver once it listens.
func (c resolver) start(b *drawn.Bench) {
	b.Await("the resolver to listen", 20*time.Second, b.Listens(c.net.Server, ":53"))
	pyclient.Start(b, c.net.Client, "stub-resolver", "dns", c.net.At(53), c.load, fmt.Sprintf("known=%.3f", c.known))
}

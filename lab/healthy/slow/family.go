// Package slow has services that take long by design, in each answer and for everybody.
package slow

import (
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/healthy/site"
	"snag/lab/pyclient"
)

// Work is an app that computes, and waits, for up to half a second.
var Work = drawn.Family{
	Name: "slow-by-its-work", Kind: drawn.Threads, Origin: drawn.Healthy, Software: []string{"Python's http.server"},
	Needs: []lab.Tool{lab.IP, site.Python}, Build: func(b *drawn.Bench) {
		net := b.Net()
		work, wait := b.Duration("an answer computes for", 10*time.Millisecond, 150*time.Millisecond), b.Duration("and waits for", time.Millisecond, 400*time.Millisecond)
		site.Program(b, net.Server, "reports", "app.py", net.At(8000), work, wait, "-", 0)
		ask(b, net, net.At(8000), b.Uniform("share of a CPU", 0.05, 0.3)/work.Seconds(), work+wait)
	},
}

// Far is an app that asks another, 20 to 150 ms away, for each answer.
var Far = drawn.Family{
	Name: "slow-by-distance", Kind: drawn.Threads, Origin: drawn.Healthy, Software: []string{"Python's http.server"},
	Needs: []lab.Tool{lab.IP, site.Python}, Build: func(b *drawn.Bench) {
		net := b.Net()
		remote, away := b.Netns("remote"), b.Duration("the other is away", 20*time.Millisecond, 150*time.Millisecond)
		path := b.Actor("", "long-path", "tun-relay", []string{"--a", net.Server + "/wan0/10.78.1.2/24", "--b", remote + "/wan0/10.78.1.1/24", "--delay", (away / 2).String(), "--clean"})
		b.AwaitPrinted(path, "ready")
		takes := b.Duration("the other takes", time.Millisecond, 300*time.Millisecond)
		site.Program(b, remote, "partner", "app.py", "10.78.1.1:8000", 0.0002, takes, "-", 0)
		site.Program(b, net.Server, "shop", "app.py", net.At(8000), 0.0005, 0, "10.78.1.1:8000", 0)
		ask(b, net, net.At(8000), b.LogUniform("requests per second", 5, 100), takes+away)
	},
}

// ask starts clients with enough connections that none waits for another's answer.
func ask(b *drawn.Bench, net drawn.Net, to string, rate float64, takes time.Duration) {
	l := drawn.Load{Rate: max(rate, 2), Open: b.Chance("open loop", 0.5)}
	l.Conns = max(b.Int("clients", 1, 32), int(3*l.Rate*(takes+net.RTT).Seconds())+1)
	pyclient.Start(b, net.Client, "browser", "pages", to, l, "path=/page")
}

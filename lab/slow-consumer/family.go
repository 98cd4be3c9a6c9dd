package slowconsumer

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a consumer that stops or reads too slowly blocks the single
// thread that serves all.
var Family = drawn.Family{
	Name: "slow-consumer", Kind: drawn.Connections, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP},
	Faults: []drawn.Fault{
		{Name: "stops", Suspects: []string{"slow-consumer"}, Subject: `fanout-relay|lazy-viewer|:7001`, Account: "write"},
		{Name: "too-slow", Suspects: []string{"slow-consumer", "receiver-too-slow"}, Subject: `fanout-relay|lazy-viewer|:7001`, Account: "write"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	pub := b.Netns("publisher")
	b.Veth(lab.End{Netns: net.Server, Device: "eth1", Addr: "10.83.1.1/24"}, lab.End{Netns: pub, Device: "eth0", Addr: "10.83.1.2/24"})
	viewers, before := b.Int("viewers", 1, 16), b.Uniform("place of the lazy one", 0, 1)
	rate := b.LogUniform("bytes per second", 40e3, 2e6/float64(viewers+1)+60e3)
	chunk := max(64, min(4096, int(rate/b.LogUniform("chunks per second", 10, 100))))
	holds := rate * b.Duration("a consumer's buffers hold", 50*time.Millisecond, 2*time.Second).Seconds()
	sndbuf, rcvbuf := max(4096, int(holds/2)), max(4096, int(holds/2))
	lazy := 0.0
	if b.Fault.Name == "too-slow" {
		lazy = rate * b.LogUniform("reads, of the rate", 0.1, 0.9)
	}
	relay := b.Actor(net.Server, "fanout-relay", "fanout-relay", []string{"--publisher", "10.83.1.1:7000", "--consumers", net.At(7001), "--count", fmt.Sprint(viewers + 1), "--sndbuf", fmt.Sprint(sndbuf)})
	b.AwaitPrinted(relay, "ready")
	var it *lab.Process
	for n := range viewers + 1 {
		if it == nil && (n == int(before*float64(viewers)) || n == viewers) {
			it = b.Actor(net.Client, "lazy-viewer", "consumer", []string{"--to", net.At(7001), "--rcvbuf", fmt.Sprint(rcvbuf), "--lazy", fmt.Sprint(lazy)})
			b.AwaitPrinted(it, "ready")
			continue
		}
		name := fmt.Sprintf("viewer%d", n)
		p := b.Actor(net.Client, name, "consumer", []string{"--to", net.At(7001), "--chunk", fmt.Sprint(chunk), "--log", b.ClientLog(name)})
		b.AwaitPrinted(p, "ready")
	}
	source := b.Actor(pub, "publisher", "tcp-source", []string{"--to", "10.83.1.1:7000", "--rate", fmt.Sprint(rate), "--chunk", fmt.Sprint(chunk), "--stamp"})
	b.AwaitPrinted(source, "ready")
	flip := func() { b.Signal(it, syscall.SIGUSR1) }
	b.Switch("stops", flip, flip)
	b.Switch("too-slow", flip, flip)
	b.Amount("one of %d viewers reads %.0f bytes per second of %.0f", viewers+1, lazy, rate)
}

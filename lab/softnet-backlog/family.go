package softnetbacklog

import (
	"fmt"
	"syscall"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: one CPU gets all packets of a receiver, each takes it a
// while, and the senders begin to send in bursts.
var Family = drawn.Family{
	Name: "softnet-backlog", Kind: drawn.Packets, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.NFT}, Alone: true,
	Faults: []drawn.Fault{
		{Name: "bursts", Suspects: []string{"softnet-backlog"}, Subject: `CPU 1|netdev_max_backlog`, Also: []string{"softirq-on-one-cpu", "kernel-hot-path"}, Account: "loss"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.NetAway(0, false)
	b.Steer(net.Server, "eth0", "2") // CPU 1
	rules := b.Int("rules", 700, 4000)
	on, _ := b.LongRules(net.Server, rules)
	on()
	each := 3e-6 + float64(rules)*drawn.RuleCost
	rate := b.LogUniform("datagrams per second", 1000, min(12000, 0.25/each))
	// Twice netdev_max_backlog wait before one is dropped: as many are being worked on.
	few, many := b.Int("datagrams at once", 1, 200), int(min(b.LogUniform("datagrams in a burst", 2500, 15000), 3*rate))
	size := b.Int("bytes of a datagram", 64, 1400)
	sink := b.Actor(net.Server, "telemetry", "udp-sink", []string{"--listen", net.At(5004), "--force-rcvbuf", "60000000", "--log", b.ClientLog("arrived")})
	b.AwaitPrinted(sink, "ready")
	source := b.Actor(net.Client, "exporter", "udp-source", []string{"--to", net.At(5004), "--rate", fmt.Sprint(rate), "--burst", fmt.Sprint(few), "--bursty", fmt.Sprint(many),
		"--size", fmt.Sprint(size), "--sndbuf", "60000000", "--log", b.ClientLog("sent")})
	flip := func() { b.Signal(source, syscall.SIGUSR1) }
	b.Switch("bursts", flip, flip)
	b.Amount("bursts of %d datagrams, about %.0f µs each", many, each*1e6)
}

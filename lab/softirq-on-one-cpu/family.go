package softirqononecpu

import (
	"fmt"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: one CPU gets all packets of a receiver, and each begins to
// take more than it has time for.
var Family = drawn.Family{
	Name: "softirq-on-one-cpu", Kind: drawn.Packets, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.NFT}, Alone: true,
	Faults: []drawn.Fault{
		{Name: "long-rules", Suspects: []string{"softirq-on-one-cpu", "kernel-hot-path", "softnet-backlog"}, Subject: `CPU 1|nft_do_chain|netdev_max_backlog`, Account: "loss"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.NetAway(0, false)
	b.Steer(net.Server, "eth0", "2") // CPU 1
	rate, asks := b.LogUniform("datagrams per second", 6000, 20000), b.LogUniform("time they take, of one CPU's", 0.9, 3)
	rules := int(asks / rate / drawn.RuleCost)
	on, off := b.LongRules(net.Server, rules)
	sink := b.Actor(net.Server, "collector", "udp-sink", []string{"--listen", net.At(5004), "--force-rcvbuf", "30000000", "--log", b.ClientLog("arrived")})
	b.AwaitPrinted(sink, "ready")
	b.Actor(net.Client, "agents", "udp-source", []string{"--to", net.At(5004), "--rate", fmt.Sprint(rate), "--burst", fmt.Sprint(b.Int("datagrams at once", 1, 32)),
		"--flows", fmt.Sprint(b.Int("senders' sockets", 1, 16)), "--size", fmt.Sprint(b.Int("bytes of a datagram", 64, 1400)), "--sndbuf", "30000000", "--log", b.ClientLog("sent")})
	b.Switch("long-rules", on, off)
	b.Amount("%d rules for each of %.0f datagrams per second", rules, rate)
}

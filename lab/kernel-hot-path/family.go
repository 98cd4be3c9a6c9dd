package kernelhotpath

import (
	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a list of firewall rules that each packet of a service goes
// through.
var Family = drawn.Family{
	Name: "kernel-hot-path", Kind: drawn.Packets, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.NFT}, Alone: true,
	Faults: []drawn.Fault{
		{Name: "long-rules", Suspects: []string{"kernel-hot-path"}, Subject: `nft_do_chain|nft|lab-rules`, Also: []string{"softirq-on-one-cpu", "softnet-backlog", "cpu-saturated"}, Account: "work"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.NetAway(0, false)
	rules := b.Int("rules", 5000, 40000)
	on, off := b.LongRules(net.Server, rules)
	t := b.Traffic(net, drawn.Requests, drawn.Bodies, drawn.Uploads)
	b.Switch("long-rules", on, off)
	b.Amount("%d rules for each packet of %.0f bytes per second", rules, t.Wire)
}

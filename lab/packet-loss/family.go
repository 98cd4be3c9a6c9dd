package packetloss

import (
	"fmt"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a path that loses a share of all packets.
var Family = drawn.Family{
	Name: "packet-loss", Kind: drawn.Packets, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP},
	Faults: []drawn.Fault{
		{Name: "random", Suspects: []string{"packet-loss"}, Subject: drawn.TrafficSubject, Account: "loss"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	loss := b.LogUniform("share that is lost", 0.003, 0.3)
	net := b.NetOver(true, "--loss", fmt.Sprint(loss))
	t := b.Traffic(net, drawn.Uploads, drawn.Requests, drawn.Bodies, drawn.Datagrams)
	b.Switch("random", net.Break, net.Break)
	b.Amount("%.2f %% of the packets of %.0f bytes per second, each way", 100*loss, t.Wire)
}

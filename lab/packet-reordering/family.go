package packetreordering

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: packets that overtake others, which TCP takes for losses.
var Family = drawn.Family{
	Name: "packet-reordering", Kind: drawn.Packets, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP},
	Faults: []drawn.Fault{
		{Name: "held-back", Suspects: []string{"packet-reordering"}, Subject: drawn.TrafficSubject, Account: "loss"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	share, hold := b.LogUniform("share that is held back", 0.02, 0.5), b.Duration("held back for", 20*time.Millisecond, 300*time.Millisecond)
	net := b.NetOver(true, "--reorder", fmt.Sprint(share), "--hold", hold.String())
	t := b.Traffic(net, drawn.Uploads, drawn.Bodies)
	b.Switch("held-back", net.Break, net.Break)
	b.Amount("%.1f %% of the packets of %.0f bytes per second for %v", 100*share, t.Wire, hold)
}

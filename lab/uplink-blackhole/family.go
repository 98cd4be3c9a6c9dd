package uplinkblackhole

import (
	"fmt"

	"snag/lab/broadcast"
	"snag/lab/drawn"
)

// Family draws the incident: an uplink that swallows all packets, or many of them.
var Family = drawn.Family{
	Name: "uplink-blackhole", Kind: drawn.Streams, Origin: drawn.Lab, Needs: broadcast.Tools,
	Faults: []drawn.Fault{
		{Name: "dead", Suspects: []string{"uplink-blackhole"}, Subject: `10\.88\.1\.`, Also: []string{"packet-loss", "half-open-peer"}, Account: "loss", Place: drawn.OnUplink},
		{Name: "lossy", Suspects: []string{"packet-loss"}, Subject: `10\.88\.1\.`, Also: []string{"uplink-throttled", "uplink-blackhole"}, Account: "loss", Place: drawn.OnUplink},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	loss := b.LogUniform("lost of the packets", 0.1, 0.6)
	if b.Fault.Name == "dead" {
		loss = 1
	}
	w := broadcast.NewShow(b, broadcast.Kind{Path: []string{"--loss", fmt.Sprint(loss), "--seed", fmt.Sprint(b.Seed)}})
	b.Amount("%.0f %% of the packets lost each way", 100*loss)
	b.Switch(b.Fault.Name, w.Turn, w.Turn)
	w.View()
}

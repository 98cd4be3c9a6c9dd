package halfopenpeer

import (
	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: the host at the other end, or the way to it, is gone without
// a word.
var Family = drawn.Family{
	Name: "half-open-peer", Kind: drawn.Connections, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP},
	Faults: []drawn.Fault{
		{Name: "host-gone", Suspects: []string{"half-open-peer", "uplink-blackhole"}, Subject: drawn.TrafficSubject, Account: "loss", Whole: true},
		{Name: "outage", Suspects: []string{"half-open-peer", "uplink-blackhole", "packet-loss"}, Subject: drawn.TrafficSubject, Account: "loss"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.NetOver(true, "--loss", "1")
	t := b.Traffic(net, drawn.Uploads, drawn.Requests, drawn.Bodies)
	b.Switch("host-gone", func() {
		net.Cut()
		b.Stop(t.Server)
	}, nil)
	b.Switch("outage", net.Break, net.Break)
	b.Amount("all of %.0f bytes per second", t.Wire)
}

package neighbourfailed

import (
	"fmt"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a gateway that is gone from its link, or never was there.
var Family = drawn.Family{
	Name: "neighbour-failed", Kind: drawn.Packets, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.Sysctl},
	Faults: []drawn.Fault{
		{Name: "gateway-gone", Suspects: []string{"neighbour-failed"}, Subject: `10\.77\.\d+\.254`, Account: "loss"},
		{Name: "wrong-gateway", Suspects: []string{"neighbour-failed"}, Subject: `10\.77\.\d+\.253`, Account: "loss"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.RouterNet(false)
	t := b.Traffic(net.Net, drawn.Datagrams, drawn.Requests, drawn.Uploads)
	gateway := func(addr string) func() {
		return func() { b.Command(net.Client, "ip", "route", "replace", "default", "via", addr) }
	}
	b.Switch("gateway-gone", func() {
		b.Command(net.Router, "ip", "addr", "del", net.Gateway+"/24", "dev", "eth0")
		b.Command(net.Client, "ip", "neigh", "flush", "dev", "eth0")
	}, func() { b.Command(net.Router, "ip", "addr", "add", net.Gateway+"/24", "dev", "eth0") })
	b.Switch("wrong-gateway", gateway(fmt.Sprintf("10.77.%d.253", b.Values["network"])), gateway(net.Gateway))
	b.Amount("all of %.0f bytes per second", t.Wire)
}

package noroute

import (
	"fmt"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a router, or the clients' own host, loses a route.
var Family = drawn.Family{
	Name: "no-route", Kind: drawn.Packets, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.Sysctl},
	Faults: []drawn.Fault{
		{Name: "lost-at-router", Suspects: []string{"no-route"}, Subject: `10\.79\.\d+\.|router`, Account: "loss"},
		{Name: "unreachable-route", Suspects: []string{"no-route"}, Subject: `10\.79\.\d+\.|router`, Account: "loss"},
		{Name: "lost-at-clients", Suspects: []string{"no-route"}, Subject: `10\.79\.\d+\.|clients|media-sender|app-client|uploader`, Account: "loss"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.RouterNet(false)
	next, third := net.Addr, b.Values["network"]
	net.Addr = fmt.Sprintf("10.79.%d.1", third)
	network := fmt.Sprintf("10.79.%d.0/24", third)
	b.Command(net.Server, "ip", "addr", "add", net.Addr+"/32", "dev", "lo")
	b.Command(net.Router, "ip", "route", "add", network, "via", next)
	t := b.Traffic(net.Net, drawn.Datagrams, drawn.Requests, drawn.Uploads)
	route := func(ns string, args ...string) func() {
		return func() { b.Command(ns, append([]string{"ip", "route"}, args...)...) }
	}
	b.Switch("lost-at-router", route(net.Router, "del", network), route(net.Router, "add", network, "via", next))
	b.Switch("unreachable-route", route(net.Router, "add", "unreachable", net.Addr+"/32"), route(net.Router, "del", "unreachable", net.Addr+"/32"))
	b.Switch("lost-at-clients", route(net.Client, "del", "default"), route(net.Client, "add", "default", "via", net.Gateway))
	b.Amount("all of %.0f bytes per second", t.Wire)
}

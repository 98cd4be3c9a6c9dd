package reversepathfilter

import (
	"fmt"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: what comes in by the one network would be answered by the
// other, and the filter becomes strict.
var Family = drawn.Family{
	Name: "reverse-path-filter", Kind: drawn.Packets, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.Sysctl},
	Faults: []drawn.Fault{
		{Name: "strict", Suspects: []string{"reverse-path-filter"}, Subject: `eth1|rp_filter`, Account: "loss"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	third := b.Int("network", 1, 200)
	net := drawn.Net{Server: b.Netns("server"), Client: b.Netns("clients"), Addr: fmt.Sprintf("10.78.%d.1", third), ClientAddr: fmt.Sprintf("10.77.%d.2", third)}
	b.Veth(lab.End{Netns: net.Client, Device: "eth0", Addr: net.ClientAddr + "/24"}, lab.End{Netns: net.Server, Device: "eth0", Addr: fmt.Sprintf("10.77.%d.1/24", third)})
	b.Veth(lab.End{Netns: net.Client, Device: "eth1", Addr: fmt.Sprintf("10.78.%d.2/24", third)}, lab.End{Netns: net.Server, Device: "eth1", Addr: net.Addr + "/24"})
	// ARP requests come with the address of the interface, or they would not be answered.
	b.Command(net.Client, "sysctl", "-qw", "net.ipv4.conf.all.arp_announce=2")
	loose := []string{"net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.eth0.rp_filter=0", "net.ipv4.conf.eth1.rp_filter=2"}
	for _, ns := range []string{net.Client, net.Server} {
		b.Command(ns, append([]string{"sysctl", "-qw"}, loose...)...)
	}
	// To the second network, by the second network, with the address of the first.
	b.Command(net.Client, "ip", "route", "replace", fmt.Sprintf("10.78.%d.0/24", third), "dev", "eth1", "src", net.ClientAddr)
	t := b.Traffic(net, drawn.Datagrams, drawn.Requests, drawn.Uploads)
	filter := func(mode int) func() {
		return func() {
			b.Command(net.Server, "sysctl", "-qw", fmt.Sprintf("net.ipv4.conf.eth1.rp_filter=%d", mode))
			// A connection keeps the route that it came by, which was checked then.
			b.Command(net.Server, "ip", "route", "flush", "cache")
		}
	}
	b.Switch("strict", filter(1), filter(2))
	b.Amount("all of %.0f bytes per second", t.Wire)
}

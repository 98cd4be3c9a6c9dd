package pmtublackhole

import (
	"fmt"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: the way's MTU shrinks, and nobody tells the senders.
var Family = drawn.Family{
	Name: "pmtu-blackhole", Kind: drawn.Connections, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.NFT, lab.Sysctl},
	Faults: []drawn.Fault{
		{Name: "tunnel", Suspects: []string{"pmtu-blackhole"}, Subject: `wan0|router|` + drawn.TrafficSubject, Account: "loss"},
		{Name: "silent-hop", Suspects: []string{"pmtu-blackhole"}, Subject: `wan0|router|` + drawn.TrafficSubject, Account: "loss"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	mtu := b.Int("bytes that still pass", 600, 1480)
	net := b.RouterNet(true, "--max-size", fmt.Sprint(mtu))
	// The filter means well, and is there when all is well too.
	b.Nft(net.Router, noICMP)
	b.Traffic(net.Net, drawn.Uploads, drawn.Bodies)
	set := func(mtu int) func() {
		return func() { b.Command(net.Router, "ip", "link", "set", "wan0", "mtu", fmt.Sprint(mtu)) }
	}
	b.Switch("tunnel", set(mtu), set(1500))
	b.Switch("silent-hop", net.Break, net.Break)
	b.Amount("packets over %d bytes vanish", mtu)
}

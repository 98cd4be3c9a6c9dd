package conntrackfull

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: somebody lowers the maximum of the connection tracking table to
// less than the clients' connections need. Each keeps its entry for minutes after its end.
var Family = drawn.Family{
	Name: "conntrack-full", Kind: drawn.Connections, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.NFT}, Alone: true,
	Faults: []drawn.Fault{
		{Name: "low-maximum", Suspects: []string{"conntrack-full"}, Subject: subject, Account: "loss"},
	},
	Build: buildFamily,
}

const subject = `nf_conntrack_max|shop-server|:8080`

// lasts is for how many seconds of its clients' connections the table has room when all is well.
const lasts = 60

func buildFamily(b *drawn.Bench) {
	if err := able(b.Stage); err != nil {
		b.Fail("conntrack-full", fmt.Errorf("this machine can't have a full table: %w", err))
		return
	}
	net := b.Net()
	takes := b.Duration("answers take", 100*time.Microsecond, 50*time.Millisecond)
	l := b.LoadOf(160)
	l.Size = min(l.Size, 4096)
	l.Fresh = true
	l = l.Within(2*net.RTT + takes)
	most := int(lasts * l.Rate)
	low := max(8, int(l.Rate*b.LogUniform("seconds of connections that the lower table holds", 0.05, 8)))
	set := func(n int) func() { return func() { b.Sysctl(settings+"nf_conntrack_max", fmt.Sprint(n)) } }
	set(most)()
	b.Nft(net.Server, "table inet lab-filter {\n chain input {\n type filter hook input priority 0; policy accept; ct state established counter accept;\n}\n}\n")
	server := b.Actor(net.Server, "shop-server", "rr-server", []string{"--listen", net.At(8080), "--wait", takes.String(), "--size", fmt.Sprint(l.Size)})
	b.AwaitPrinted(server, "ready")
	b.Ask(net.Client, "shop-client", net.At(8080), l)
	b.Switch("low-maximum", set(low), set(most))
	b.Amount("room for %d entries, with %.0f connections per second", low, l.Rate)
}

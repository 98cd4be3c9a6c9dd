package nagledelayedack

import (
	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a request in two small writes, at any rate. Nagle is a hump:
// at some rates nobody notices it.
var Family = drawn.Family{
	Name: "nagle-delayed-ack", Kind: drawn.Connections, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP},
	Faults: []drawn.Fault{{
		Name: "two-writes", Suspects: []string{"nagle-delayed-ack"}, Subject: `api-client|:9000`, Account: "nagle", Whole: true,
	}},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	think := b.Duration("answers take", 10_000, 20_000_000)
	server := b.Actor(net.Server, "api-server", "rr-server", []string{"--listen", net.At(9000), "--wait", think.String(), "--size", "128"})
	b.AwaitPrinted(server, "ready")
	l := b.LoadOf(2000)
	l.Size = 128
	var more []string
	if b.Built("two-writes") {
		more = []string{"--split", "40"}
		b.Amount("each of %.0f requests per second in two writes", l.Rate)
	}
	b.Ask(net.Client, "api-client", net.At(9000), l, more...)
	b.AwaitGrowth(net.Server, "Tcp", "InSegs", 100)
}

package nagledelayedack

import (
	"fmt"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a request, or an answer, in two small writes, at any rate.
// Nagle is a hump: at some rates nobody notices it.
var Family = drawn.Family{
	Name: "nagle-delayed-ack", Kind: drawn.Connections, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP},
	Faults: []drawn.Fault{
		{Name: "two-writes", Suspects: []string{"nagle-delayed-ack"}, Subject: `api-client|:9000`, Account: "nagle", Whole: true},
		{Name: "answer-in-two-writes", Suspects: []string{"nagle-delayed-ack"}, Subject: `api-server|:9000`, Account: "nagle", Whole: true},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	think := b.Duration("answers take", 10_000, 20_000_000)
	l := b.LoadOf(2000).Within(net.RTT + think)
	l.Size = 128
	server := []string{"--listen", net.At(9000), "--wait", think.String(), "--size", fmt.Sprint(l.Size)}
	var client []string
	switch {
	case b.Built("two-writes"):
		client = []string{"--split", "40"}
		b.Amount("each of %.0f requests per second in two writes", l.Rate)
	case b.Built("answer-in-two-writes"):
		server = append(server, "--split", "40")
		b.Amount("each of %.0f answers per second in two writes", l.Rate)
	}
	b.AwaitPrinted(b.Actor(net.Server, "api-server", "rr-server", server), "ready")
	b.Ask(net.Client, "api-client", net.At(9000), l, client...)
	b.AwaitGrowth(net.Server, "Tcp", "InSegs", 100)
}

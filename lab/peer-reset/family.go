package peerreset

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: connections of requests that end by a reset.
var Family = drawn.Family{
	Name: "peer-reset", Kind: drawn.Connections, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.NFT},
	Faults: []drawn.Fault{
		{Name: "linger-zero", Suspects: []string{"peer-reset"}, Subject: `app-server|:8080`, Account: "errors"},
		{Name: "closed-unread", Suspects: []string{"peer-reset"}, Subject: `app-server|:8080`, Account: "errors"},
		{Name: "filter-rejects", Suspects: []string{"peer-reset", "netfilter-drop"}, Subject: `app-server|:8080|lab-filter|input`, Account: "errors"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	takes := b.Duration("answers take", 10*time.Microsecond, 20*time.Millisecond)
	l := b.LoadOf(1000).Within(net.RTT + takes)
	share := b.LogUniform("share of the requests", 0.005, 0.8)
	args := []string{"--listen", net.At(8080), "--wait", takes.String(), "--size", fmt.Sprint(l.Size), "--resets", fmt.Sprint(share)}
	if b.Fault.Name == "closed-unread" {
		args = append(args, "--unread")
	}
	b.Nft(net.Server, "table inet lab-filter {\n chain input {\n type filter hook input priority 0; policy accept;\n}\n}\n")
	server := b.Actor(net.Server, "app-server", "rr-server", args)
	b.AwaitPrinted(server, "ready")
	b.Ask(net.Client, "app-client", net.At(8080), l)
	flip := func() { b.Signal(server, syscall.SIGUSR2) }
	b.Switch("linger-zero", flip, flip)
	b.Switch("closed-unread", flip, flip)
	b.Switch("filter-rejects",
		func() {
			b.Nft(net.Server, fmt.Sprintf("add rule inet lab-filter input tcp dport 8080 tcp flags & syn == 0 numgen random mod 1000 < %d counter reject with tcp reset\n", max(1, int(share*500))))
		},
		func() { b.Nft(net.Server, "flush chain inet lab-filter input\n") })
	b.Amount("%.1f %% of %.0f requests per second", 100*share, l.Rate)
}

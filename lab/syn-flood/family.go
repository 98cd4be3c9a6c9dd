package synflood

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: forged SYNs against a listener, with cookies now and then:
// then nobody notices.
var Family = drawn.Family{
	Name: "syn-flood", Kind: drawn.Connections, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.Sysctl},
	Faults: []drawn.Fault{
		{Name: "flood", Suspects: []string{"syn-flood"}, Subject: `:8080`, Also: []string{"listen-overflow"}, Account: "accept queue"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	cookies := 0
	if b.Chance("cookies", 0.15) {
		cookies = 1
	}
	backlog := b.Int("half-open connections that it holds", 64, 1024)
	b.Command(net.Server, "sysctl", "-qw", fmt.Sprintf("net.ipv4.tcp_syncookies=%d", cookies), fmt.Sprintf("net.ipv4.tcp_max_syn_backlog=%d", backlog), fmt.Sprintf("net.core.somaxconn=%d", backlog))
	rate := b.LogUniform("SYNs per second", 60, 6000)
	takes := b.Duration("answers take", 100*time.Microsecond, 20*time.Millisecond)
	l := b.LoadOf(600)
	l.Size = min(l.Size, 4096)
	l = l.Within(2*net.RTT + takes)
	l.Fresh = true
	server := b.Actor(net.Server, "shop-server", "rr-server", []string{"--listen", net.At(8080), "--wait", takes.String(), "--size", fmt.Sprint(l.Size)})
	b.AwaitPrinted(server, "ready")
	b.Ask(net.Client, "shop-client", net.At(8080), l)
	var botnet *lab.Process
	b.Switch("flood", func() {
		botnet = b.Actor("", "botnet", "syn-flood", []string{"--at", net.Server + "/wan9/198.18.0.1/16", "--to", net.At(8080), "--rate", fmt.Sprint(rate)})
	}, func() { b.Stop(botnet) })
	b.Amount("%.0f SYNs per second, room for %d, cookies %d", rate, backlog, cookies)
}

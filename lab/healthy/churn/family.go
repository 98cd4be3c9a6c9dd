// Package churn has services whose clients open a connection, or ask for a name, for each
// request.
package churn

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/healthy/site"
	"snag/lab/pyclient"
)

// Connections is a web server without kept connections, and a crawler.
var Connections = drawn.Family{
	Name: "connections-without-keepalive", Kind: drawn.Connections, Origin: drawn.Healthy, Software: []string{"nginx"},
	Needs: site.WebNeeds(), Build: func(b *drawn.Bench) {
		s := site.Web(b, "keepalive_timeout "+drawn.Pick(b.Draw, "nginx keeps connections", "0", "1s")+";")
		l := site.LoadOf(b, s.Net, s.Page)
		l.Rate = min(b.LogUniform("connections per second", 20, 300), 3e6/float64(s.Page)+10)
		l.Fresh = true
		l.Conns = max(l.Conns, int(l.Rate*(0.02+10*s.RTT.Seconds()))+1)
		if b.Chance("crawler", 0.5) {
			every := b.Duration("crawler every", 20*time.Millisecond, 500*time.Millisecond)
			site.Program(b, s.Client, "crawler", "checks.py", "options", s.At(80), every, min(b.Int("crawlers", 1, 6), int(40*every.Seconds())+1))
		}
		pyclient.Start(b, s.Client, "http10", "pages", s.At(80), l, "path=/page")
	},
}

// Names is a resolver that is asked for names, most of which there are not.
var Names = drawn.Family{
	Name: "names-that-are-not", Kind: drawn.DNS, Origin: drawn.Healthy, Software: []string{"dnsmasq"},
	Needs: []lab.Tool{lab.IP, site.Python, {Command: "dnsmasq", Package: "dnsmasq-base"}}, Build: func(b *drawn.Bench) {
		net := b.Net()
		b.Run(net.Server, "dnsmasq", []string{
			"dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=root", "--pid-file=" + b.Dir() + "/dnsmasq.pid",
			"--bind-interfaces", "--except-interface=lo", "--interface=eth0", "--no-dhcp-interface=eth0", "--local=/site/", "--address=/www.site/10.0.0.80",
			fmt.Sprintf("--cache-size=%d", b.Int("cache", 1, 5000)),
		})
		b.Await("dnsmasq to listen", 10*time.Second, b.Listens(net.Server, ":53"))
		every := b.Duration("lookups that find every", 20*time.Millisecond, time.Second)
		site.Program(b, net.Client, "checker", "checks.py", "udp", net.At(53), every, b.Int("who find", 1, 8))
		l := site.LoadOf(b, net, 100)
		l.Rate = b.LogUniform("lookups per second", 20, 400)
		l.Conns = max(l.Conns, int(l.Rate*(0.02+2*net.RTT.Seconds()))+1)
		pyclient.Start(b, net.Client, "resolver", "dns_socket", net.At(53), l, "name=host%d.site", "expect=NXDOMAIN")
	},
}

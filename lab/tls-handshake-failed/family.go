package tlshandshakefailed

import (
	"fmt"
	"path/filepath"
	"syscall"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a server that begins to want TLS 1.3 while some of its clients
// have 1.2, or that gets a certificate which has expired, or which nobody knows. Where
// several servers share the port, not all of them may have been changed.
var Family = drawn.Family{
	Name: "tls-handshake-failed", Kind: drawn.Connections, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP},
	Faults: []drawn.Fault{
		{Name: "version", Suspects: []string{"tls-handshake-failed"}, Subject: subject, Account: "errors"},
		{Name: "expired", Suspects: []string{"tls-handshake-failed"}, Subject: subject, Account: "errors"},
		{Name: "unknown", Suspects: []string{"tls-handshake-failed"}, Subject: subject, Account: "errors"},
	},
	Build: buildFamily,
}

const subject = `:8443|web-shop|new-users|old-users`

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	l := b.LoadOf(300) // a handshake costs server and client about a millisecond
	l.Size = min(l.Size, 4096)
	l.Fresh = true
	l = l.Within(4 * net.RTT)
	old, share := b.Uniform("clients with TLS 1.2", 0.1, 0.8), b.LogUniform("share of the connections", 0.1, 1)
	what := map[string]string{"version": "TLS 1.3 is wanted", "expired": "the certificate has expired", "unknown": "the certificate is of an unknown authority"}
	if b.Fault.Name == "version" {
		share = 1
		b.Amount("%s: %.0f %% of the clients have 1.2", what[b.Fault.Name], 100*old)
	} else {
		b.Amount("%s: in %.0f %% of the connections", what[b.Fault.Name], 100*share)
	}
	authority := filepath.Join(b.Dir(), "authority.pem")
	shop := b.Actor(net.Server, "web-shop", "tls-server", []string{"--listen", net.At(8443), "--authority", authority, "--breaks", b.Fault.Name, "--share", fmt.Sprint(share)})
	b.AwaitPrinted(shop, "ready")
	part := func(share float64) drawn.Load {
		of := l
		of.Rate, of.Conns = l.Rate*share, max(1, int(float64(l.Conns)*share))
		return of
	}
	b.Ask(net.Client, "new-users", net.At(8443), part(1-old), "--tls", "1.3", "--authority", authority)
	b.Ask(net.Client, "old-users", net.At(8443), part(old), "--tls", "1.2", "--authority", authority)
	flip := func() { b.Signal(shop, syscall.SIGUSR1) }
	for name := range what {
		b.Switch(name, flip, flip)
	}
}

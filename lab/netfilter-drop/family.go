package netfilterdrop

import (
	"fmt"

	"snag/lab"
	"snag/lab/drawn"
)

// Family draws the incident: a rule that drops a share of what comes or goes, or what is
// above a rate.
var Family = drawn.Family{
	Name: "netfilter-drop", Kind: drawn.Packets, Origin: drawn.Lab, Needs: []lab.Tool{lab.IP, lab.NFT},
	Faults: []drawn.Fault{
		{Name: "input", Suspects: []string{"netfilter-drop"}, Subject: `lab-filter|input|` + drawn.TrafficSubject, Also: []string{"packet-loss"}, Account: "loss"},
		{Name: "output", Suspects: []string{"netfilter-drop"}, Subject: `lab-filter|output|` + drawn.TrafficSubject, Also: []string{"packet-loss"}, Account: "loss"},
		{Name: "rate-limit", Suspects: []string{"netfilter-drop"}, Subject: `lab-filter|input|` + drawn.TrafficSubject, Also: []string{"packet-loss"}, Account: "loss"},
	},
	Build: buildFamily,
}

func buildFamily(b *drawn.Bench) {
	net := b.Net()
	for _, end := range []struct{ ns, hook string }{{net.Server, "input"}, {net.Client, "output"}} {
		b.Nft(end.ns, fmt.Sprintf("table inet lab-filter {\n chain %s {\n type filter hook %s priority 0; policy accept;\n}\n}\n", end.hook, end.hook))
	}
	t := b.Traffic(net, drawn.Datagrams, drawn.Requests, drawn.Uploads)
	match := map[string]string{drawn.Datagrams: "udp dport 5004", drawn.Requests: "tcp dport 8080", drawn.Uploads: "tcp dport 8000"}[t.Kind]
	lost := b.LogUniform("share that is dropped", 0.005, 0.6)
	packets := max(t.Rate, t.Wire/1500)
	if t.Kind == drawn.Uploads {
		packets = t.Wire / 1500
	}
	most := max(2, packets*b.LogUniform("limit, of what comes", 0.2, 1))
	some := fmt.Sprintf("%s numgen random mod 10000 < %d counter drop", match, int(lost*1e4))
	rule := func(name, ns, hook, rule string) {
		b.Switch(name, func() { b.Nft(ns, "add rule inet lab-filter "+hook+" "+rule+"\n") },
			func() { b.Nft(ns, "flush chain inet lab-filter "+hook+"\n") })
	}
	rule("input", net.Server, "input", some)
	rule("output", net.Client, "output", some)
	rule("rate-limit", net.Server, "input", fmt.Sprintf("%s limit rate over %d/second burst %d packets counter drop", match, int(most), max(1, int(most/10))))
	if b.Fault.Name == "rate-limit" {
		b.Amount("at most %.0f packets per second of about %.0f", most, packets)
	} else {
		b.Amount("%.1f %% of the packets", 100*lost)
	}
}

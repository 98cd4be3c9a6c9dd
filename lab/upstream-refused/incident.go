// Package upstreamrefused makes a program whose upstream nobody serves any more.
package upstreamrefused

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "upstream-refused",
	Title: "a program asks an upstream that has ended for each of its requests",
	Apart: true,
	Needs: []lab.Tool{lab.IP, lab.NFT},
	Want: lab.Want{
		Suspect:  "upstream-refused",
		Subject:  `10\.89\.1\.2:8081`,
		Symptoms: []string{"connection-errors"},
	},
	Distractor:     "the upstream listens, and a firewall rule answers for it with resets",
	DistractorWant: lab.Want{Suspect: "netfilter-drop", Subject: `:8081|input|lab-filter`},
	Start:          start,
}

const upstream = "10.89.1.2:8081"

func start(s *lab.Stage, v lab.Variant) error {
	app, backend := s.Netns("app"), s.Netns("backend")
	s.Veth(lab.End{Netns: app, Device: "eth0", Addr: "10.89.1.1/24"}, lab.End{Netns: backend, Device: "eth0", Addr: "10.89.1.2/24"})
	if v != lab.Sick {
		server := s.Actor(backend, "stock-server", "slow-acceptor", []string{"--listen", upstream, "--backlog", "128", "--work", "2ms"})
		s.AwaitPrinted(server, "ready")
	}
	if v == lab.Distractor {
		s.Nft(backend, "table inet lab-filter {\n chain input {\n type filter hook input priority 0; policy accept;\n tcp dport 8081 counter reject with tcp reset\n}\n}\n")
	}
	// Of a severe outage more is asked; of one that is barely felt, one connection per second.
	s.Actor(app, "web-shop", "caller", []string{"--to", upstream, "--rate", lab.At(s, "1", "20", "200"), "--timeout", "2s"})
	if v == lab.Healthy {
		s.AwaitGrowth(backend, "Tcp", "PassiveOpens", 20)
	} else {
		s.AwaitGrowth(app, "Tcp", "AttemptFails", lab.At[uint64](s, 2, 20, 20))
	}
	return s.Err()
}

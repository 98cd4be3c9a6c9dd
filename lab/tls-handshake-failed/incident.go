// Package tlshandshakefailed makes a server that some of its clients have no version of TLS for.
package tlshandshakefailed

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "tls-handshake-failed",
	Title: "a server wants TLS 1.3, and half of its clients have 1.2",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "tls-handshake-failed",
		Subject:  `:8443`,
		Symptoms: []string{"failed-answers"},
	},
	Distractor: "as many checks that connect and close, of which no handshake is begun",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	cli, srv := s.Netns("clients"), s.Netns("server")
	s.Veth(lab.End{Netns: cli, Device: "eth0", Addr: "10.89.4.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.89.4.2/24"})
	s.AwaitPrinted(s.Actor(srv, "web-shop", "tls-server", []string{"--listen", "10.89.4.2:8443", "--min", "1.3"}), "ready")
	others := []string{"--to", "10.89.4.2:8443", "--every", lab.At(s, "400ms", "50ms", "20ms")}
	switch v {
	case lab.Sick:
		others = append(others, "--max", "1.2")
	case lab.Distractor:
		others = append(others, "--plain")
	}
	s.AwaitPrinted(s.Actor(cli, "web-users", "tls-client", []string{"--to", "10.89.4.2:8443", "--every", "50ms"}), "answer")
	s.AwaitPrinted(s.Actor(cli, "old-users", "tls-client", others), map[lab.Variant]string{lab.Sick: "handshake-failed", lab.Healthy: "answer", lab.Distractor: "count"}[v])
	return s.Err()
}

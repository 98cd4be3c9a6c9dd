// Package sessionlock makes a report that holds a store's lock while it does something else.
package sessionlock

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "session-lock",
	Title: "a report's session holds a lock for seconds, and eight writers wait for it",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "session-lock",
		Subject:  `stock-db|:5432`,
		Symptoms: []string{"request-latency"},
	},
	Distractor: "a report that holds the lock as often, for a twentieth of a second",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	cli, srv := s.Netns("clients"), s.Netns("server")
	s.Veth(lab.End{Netns: cli, Device: "eth0", Addr: "10.89.5.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.89.5.2/24"})
	const at = "10.89.5.2:5432"
	s.AwaitPrinted(s.Actor(srv, "stock-db", "session-db", []string{"--listen", at}), "ready")
	s.AwaitPrinted(s.Actor(cli, "shop-app", "session-client", []string{"--to", at, "--readers", "10", "--writers", "8"}), "ready")
	switch v {
	case lab.Sick:
		s.AwaitPrinted(s.Actor(cli, "stock-report", "session-client", []string{"--to", at, "--holds", lab.At(s, "1200ms", "2s", "3s"), "--pause", "700ms"}), "ready")
	case lab.Distractor:
		s.AwaitPrinted(s.Actor(cli, "stock-report", "session-client", []string{"--to", at, "--holds", "50ms", "--pause", "700ms"}), "ready")
	}
	return s.Err()
}

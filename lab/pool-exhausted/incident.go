// Package poolexhausted makes a pooler with too few connections to its database.
package poolexhausted

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "pool-exhausted",
	Title: "twelve clients share two connections of a pool",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "pool-exhausted",
		Subject:  `sql-pool|:6432`,
		Symptoms: []string{"request-latency"},
	},
	Distractor: "as many clients that ask seldom, so that the two connections are mostly free",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	cli, srv := s.Netns("clients"), s.Netns("server")
	s.Veth(lab.End{Netns: cli, Device: "eth0", Addr: "10.89.4.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.89.4.2/24"})
	s.AwaitPrinted(s.Actor(srv, "stock-db", "rr-server", []string{"--listen", "127.0.0.1:5432", "--wait", "10ms"}), "ready")
	pool, every := "20", "10ms"
	switch v {
	case lab.Sick:
		pool = lab.At(s, "6", "2", "1")
	case lab.Distractor:
		pool, every = "2", "400ms"
	}
	s.AwaitPrinted(s.Actor(srv, "sql-pool", "pooler", []string{"--listen", "10.89.4.2:6432", "--to", "127.0.0.1:5432", "--pool", pool}), "ready")
	s.AwaitPrinted(s.Actor(cli, "shop-app", "rr-client", []string{"--to", "10.89.4.2:6432", "--conns", "12", "--every", every}), "answers")
	return s.Err()
}

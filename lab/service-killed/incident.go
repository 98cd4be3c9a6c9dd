// Package servicekilled makes a pool whose supervisor kills its workers again and again.
package servicekilled

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "service-killed",
	Title: "a supervisor kills its workers again and again, with what they have in hand",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "service-killed",
		Subject:  `:8000`,
		Symptoms: []string{"connection-errors"},
	},
	Distractor:     "workers that are replaced one by one: the next one serves before each is asked to end, and finishes what it has; and commands that fail",
	DistractorWant: lab.Want{},
	Start:          start,
}

func start(s *lab.Stage, v lab.Variant) error {
	cli, srv := s.Netns("clients"), s.Netns("server")
	s.Veth(lab.End{Netns: cli, Device: "eth0", Addr: "10.89.4.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.89.4.2/24"})
	const at = "10.89.4.2:8000"
	args := []string{"--listen", at, "--worker", "shop-worker", "--workers", "3"}
	switch v {
	case lab.Sick:
		args = append(args, "--kill", "--every", lab.At(s, "2500ms", "700ms", "250ms"))
	case lab.Distractor:
		args = append(args, "--every", "700ms", "--commands", "150ms")
	}
	s.AwaitPrinted(s.Actor(srv, "shop-arbiter", "worker-pool", args), "ready")
	s.Actor(cli, "shop-client", "service-client", []string{"--to", at, "--conns", "12", "--fresh", "--every", "60ms", "--timeout", "2s"})
	s.AwaitGrowth(cli, "Tcp", "ActiveOpens", 40)
	return s.Err()
}

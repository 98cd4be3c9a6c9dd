// Package connectionlimit makes a server that has as many clients as it may.
package connectionlimit

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "connection-limit",
	Title: "a server has as many clients as it may, and tells the others so",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "connection-limit",
		Subject:  `:6380`,
		Symptoms: []string{"failed-answers"},
	},
	Distractor:     "a server with room for all, that answers a third of the requests on kept connections with an error",
	DistractorWant: lab.Want{Suspect: "error-answers", Subject: `:6380`},
	Start:          start,
}

func start(s *lab.Stage, v lab.Variant) error {
	cli, srv := s.Netns("clients"), s.Netns("server")
	s.Veth(lab.End{Netns: cli, Device: "eth0", Addr: "10.89.3.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.89.3.2/24"})
	const at = "10.89.3.2:6380"
	args := []string{"--listen", at, "--clients", "500"}
	switch v {
	case lab.Sick:
		args[3] = "8"
	case lab.Distractor:
		args = append(args, "--fail", "0.33")
	}
	s.AwaitPrinted(s.Actor(srv, "session-store", "guarded-server", args), "ready")
	s.AwaitPrinted(s.Actor(cli, "web-workers", "rr-client", []string{"--to", at, "--conns", "8", "--every", "100ms"}), "answers")
	s.Actor(cli, "cron-jobs", "service-client", []string{"--to", at, "--conns", "4", "--fresh", "--every", lab.At(s, "2s", "400ms", "40ms"), "--timeout", "2s"})
	s.AwaitGrowth(cli, "Tcp", "ActiveOpens", lab.At[uint64](s, 10, 18, 40))
	return s.Err()
}

// Package erroranswers makes a web service a part of which fails.
package erroranswers

import (
	"syscall"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "error-answers",
	Title: "a web service answers a third of its requests with 503",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "error-answers",
		Subject:  `:8082`,
		Symptoms: []string{"failed-answers"},
	},
	Distractor: "as many requests for pages that are not there, which are answered with 404",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	cli, srv := s.Netns("clients"), s.Netns("server")
	s.Veth(lab.End{Netns: cli, Device: "eth0", Addr: "10.89.2.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.89.2.2/24"})
	then := "errors"
	if v == lab.Distractor {
		then = "missing"
	}
	server := s.Actor(srv, "web-shop", "http-backend", []string{"--listen", "10.89.2.2:8082", "--wait", "2ms", "--then", then, "--share", lab.At(s, "0.05", "0.33", "1")})
	s.AwaitPrinted(server, "ready")
	if v != lab.Healthy {
		s.Signal(server, syscall.SIGUSR2)
	}
	s.AwaitPrinted(s.Actor(cli, "web-users", "http-client", []string{"--url", "http://10.89.2.2:8082/", "--conns", "4", "--every", "50ms", "--any"}), "answers")
	return s.Err()
}

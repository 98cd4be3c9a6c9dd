// Package listenoverflow makes a server whose accept queue is shorter than the
// bursts in which its clients come.
package listenoverflow

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "listen-overflow",
	Title: "a listener with a backlog of 5 gets its clients in bursts of 20",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "listen-overflow",
		Subject:  `:8080`,
		Symptoms: []string{"connect-latency"},
	},
	Distractor: "a server that is too slow to accept, with a backlog that holds all who wait: late answers, no overflow",
	Start:      start,
	Remedy:     remedy,
}

func start(s *lab.Stage, v lab.Variant) error {
	backlog, work := lab.At(s, "5", "5", "1"), "20ms"
	switch v {
	case lab.Healthy:
		backlog = "128"
	case lab.Distractor:
		backlog, work = "1024", "40ms"
	}
	srv, cli := topology(s)
	return traffic(s, v, srv, cli, backlog, work)
}

func topology(s *lab.Stage) (srv, cli string) {
	srv, cli = s.Netns("server"), s.Netns("clients")
	s.Veth(lab.End{Netns: srv, Device: "eth0", Addr: "10.80.1.1/24"}, lab.End{Netns: cli, Device: "eth0", Addr: "10.80.1.2/24"})
	return srv, cli
}

func traffic(s *lab.Stage, v lab.Variant, srv, cli, backlog, work string) error {
	// 50 connections per second can be worked on, 40 come: only the queue is short. (When
	// it is severe, the server is too slow as well.)
	burst, rate := lab.At(s, "8", "20", "40"), lab.At(s, "16", "40", "80")
	if v != lab.Sick {
		burst, rate = "20", "40"
	}
	server := s.Actor(srv, "playlist-srv", "slow-acceptor", []string{"--listen", "10.80.1.1:8080", "--backlog", backlog, "--work", work})
	s.AwaitPrinted(server, "ready")
	// Clients that gave up would close on answers that still come, and that resets:
	// peer-reset's incident. These are patient.
	s.Actor(cli, "playlist-cli", "caller", []string{"--to", "10.80.1.1:8080", "--rate", rate, "--burst", burst, "--clients", "200", "--timeout", "30s"})
	if v == lab.Sick {
		s.AwaitGrowth(srv, "TcpExt", "ListenOverflows", lab.At[uint64](s, 10, 100, 100))
	} else {
		s.AwaitGrowth(srv, "Tcp", "PassiveOpens", 100)
	}
	return s.Err()
}

// Package ephemeralports makes a client that opens a connection for each request
// and has few ports to choose from.
package ephemeralports

import (
	"strings"

	"snag/lab"
	"snag/lab/actor"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "ephemeral-ports",
	Title: "a client makes a connection for each request until all its ports to the server are in TIME-WAIT",
	Long:  true,
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "ephemeral-ports",
		Subject:  `10\.77\.11\.2:3306`,
		Symptoms: []string{"connection-errors"},
	},
	Distractor: "more connections in TIME-WAIT than there are ports, spread over six servers: each has its own ports",
	Start:      start,
	Remedy:     remedy,
}

const servers = 6

func start(s *lab.Stage, v lab.Variant) error {
	cli, srv := s.Netns("client"), s.Netns("server")
	s.Veth(lab.End{Netns: cli, Device: "eth0", Addr: "10.77.11.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.77.11.2/24"})
	to := []string{"10.77.11.2:3306"}
	if v == lab.Distractor {
		for n := range servers - 1 {
			addr := "10.77.11." + string(rune('3'+n))
			s.Command(srv, "ip", "addr", "add", addr+"/24", "dev", "eth0")
			to = append(to, addr+":3306")
		}
	}
	// 500 ports, each kept for 60 s (TCP_TIMEWAIT_LEN): 8 connections per second for good.
	if v != lab.Healthy {
		s.Command(cli, "sysctl", "-qw", "net.ipv4.ip_local_port_range=40000 40499")
	}
	s.AwaitPrinted(s.Actor(srv, "db-server", "rr-server", []string{"--listen", "0.0.0.0:3306"}), "ready")
	rate := lab.At(s, "30", "100", "500")
	if v == lab.Distractor {
		rate = "100"
	}
	all := strings.Join(to, ",")
	// What ran before: a batch that used the ports up, or 150 a server of six.
	before := "550"
	if v == lab.Distractor {
		before = "900"
	}
	s.Actor(cli, "batch-job", "hopper", []string{"--to", all, "--rate", "500", "--count", before}, lab.MayEnd())
	s.AwaitGrowth(srv, "Tcp", "PassiveOpens", 450)
	app := s.Actor(cli, "report-app", "hopper", []string{"--to", all, "--rate", rate})
	s.AwaitOutput(app, "its requests", func(printed string) bool {
		line, _ := actor.LastLine(printed)
		if v == lab.Sick {
			return line.Count["EADDRNOTAVAIL"] >= 20
		}
		return line.Count["answer"] >= 100
	})
	return s.Err()
}

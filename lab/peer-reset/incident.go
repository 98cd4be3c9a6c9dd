// Package peerreset makes a service that resets connections instead of answering.
package peerreset

import (
	"os"
	"syscall"

	"snag/lab"
	"snag/lab/actor"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "peer-reset",
	Title: "a service resets connections on which requests wait for their answers",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "peer-reset",
		Subject:  `app-server|:8080`,
		Symptoms: []string{"connection-errors"},
	},
	Distractor: "players that leave with unread data, so that their server is reset, and clients that knock at a port where nothing listens",
	// That is true as well, and no reset of a connection.
	DistractorWant: lab.Want{Also: []string{"upstream-refused"}},
	Start:          start,
}

func start(s *lab.Stage, v lab.Variant) error {
	srv, cli := s.Netns("server"), s.Netns("clients")
	s.Veth(lab.End{Netns: srv, Device: "eth0", Addr: "10.82.1.1/24"}, lab.End{Netns: cli, Device: "eth0", Addr: "10.82.1.2/24"})
	server := s.Actor(srv, "app-server", "rr-server", []string{"--listen", "10.82.1.1:8080", "--wait", "2ms", "--resets", lab.At(s, "0.03", "0.2", "0.8")})
	s.AwaitPrinted(server, "ready")
	s.AwaitPrinted(s.Actor(cli, "app-client", "service-client", []string{"--to", "10.82.1.1:8080", "--conns", "8", "--every", "20ms", "--log", os.DevNull}), "ready")
	switch v {
	case lab.Sick:
		s.Signal(server, syscall.SIGUSR2)
		s.AwaitGrowth(srv, "Tcp", "EstabResets", lab.At[uint64](s, 6, 40, 60))
	case lab.Distractor:
		s.AwaitPrinted(s.Actor(srv, "feed-server", "feed-server", []string{"--listen", "10.82.1.1:8554"}), "ready")
		s.Actor(cli, "feed-player", "feed-client", []string{"--to", "10.82.1.1:8554", "--clients", "8", "--end", "unread"})
		s.Actor(cli, "health-check", "feed-client", []string{"--to", "10.82.1.1:8555", "--clients", "2", "--end", "closed", "--pause", "100ms"})
		s.AwaitOutput(s.ProcessOf("feed-server"), "players left", func(printed string) bool {
			line, _ := actor.LastLine(printed)
			return line.Count["ECONNRESET"]+line.Count["EPIPE"] >= 20
		})
	}
	return s.Err()
}

// Package peerreset makes players that close while their server still sends.
package peerreset

import (
	"snag/lab"
	"snag/lab/actor"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "peer-reset",
	Title: "players close with unread data while the server goes on writing",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect: "peer-reset",
		// Who closed first, with unread data: the server's resets are only received.
		Subject:  `feed-player`,
		Symptoms: []string{"connection-errors"},
	},
	Distractor: "as many connections that end in order, and clients that knock at a port where nobody listens",
	// That is true as well, and no reset of a connection.
	DistractorWant: lab.Want{Also: []string{"upstream-refused"}},
	Start:          start,
}

func start(s *lab.Stage, v lab.Variant) error {
	srv, cli := s.Netns("server"), s.Netns("players")
	s.Veth(lab.End{Netns: srv, Device: "eth0", Addr: "10.82.1.1/24"}, lab.End{Netns: cli, Device: "eth0", Addr: "10.82.1.2/24"})
	server := []string{"--listen", "10.82.1.1:8554"}
	players := []string{"--to", "10.82.1.1:8554", "--clients", "8"}
	if v == lab.Sick {
		players = append(players, "--end", "unread")
		players[3] = lab.At(s, "1", "8", "60")
	} else {
		server = append(server, "--writes", "30") // 300 ms: as long as the sick ones stay
	}
	s.AwaitPrinted(s.Actor(srv, "feed-server", "feed-server", server), "ready")
	if v == lab.Sick && lab.At(s, true, false, false) {
		// Beside one that goes away, seven that end in order.
		s.AwaitPrinted(s.Actor(srv, "vod-server", "feed-server", []string{"--listen", "10.82.1.1:8556", "--writes", "30"}), "ready")
		s.Actor(cli, "vod-player", "feed-client", []string{"--to", "10.82.1.1:8556", "--clients", "7"})
	}
	player := s.Actor(cli, "feed-player", "feed-client", players)
	if v == lab.Sick {
		s.AwaitGrowth(srv, "Tcp", "EstabResets", lab.At[uint64](s, 6, 40, 200))
		return s.Err()
	}
	if v == lab.Distractor {
		s.Actor(cli, "health-check", "feed-client", []string{"--to", "10.82.1.1:8555", "--clients", "2", "--end", "closed", "--pause", "100ms"})
	}
	s.AwaitOutput(player, "feeds came to their end", func(printed string) bool {
		line, _ := actor.LastLine(printed)
		return line.Count["eof"] >= 40
	})
	return s.Err()
}

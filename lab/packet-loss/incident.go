// Package packetloss makes a path that loses two packets of a hundred.
package packetloss

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "packet-loss",
	Title: "a path loses 2 % of the packets of a TCP stream",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect: "packet-loss",
		Subject: `10\.77\.5\.`,
	},
	Distractor: "the path reorders and jitters, and loses nothing: retransmits that were not needed, each with a DSACK",
	// Reordering is a cause of the catalogue, and true there.
	DistractorWant: lab.Want{Also: []string{"packet-reordering"}},
	Start:          start,
}

func start(s *lab.Stage, v lab.Variant) error {
	a, b := s.Netns("client"), s.Netns("server")
	path := []string{
		"--a", a + "/wan0/10.77.5.1/24", "--b", b + "/wan0/10.77.5.2/24",
		"--delay", "10ms", "--seed", "20",
	}
	switch v {
	case lab.Sick:
		path = append(path, "--loss", lab.At(s, "0.007", "0.02", "0.15"))
	case lab.Distractor:
		// Held back for longer than a round trip: the sender can not learn to wait for it.
		path = append(path, "--jitter", "3ms", "--reorder", "0.01", "--hold", "35ms")
	}
	relay := s.Actor("", "wan-path", "tun-relay", path)
	s.AwaitPrinted(relay, "ready")
	sink := s.Actor(b, "upload-server", "tcp-sink", []string{"--listen", "10.77.5.2:8080"})
	s.AwaitPrinted(sink, "ready")
	// A stream of 6 Mbit/s, which the path could carry many times over.
	s.Actor(a, "upload-client", "tcp-source", []string{"--to", "10.77.5.2:8080", "--rate", "750000", "--congestion", "cubic"})
	switch v {
	case lab.Sick:
		s.AwaitGrowth(a, "Tcp", "RetransSegs", lab.At[uint64](s, 8, 20, 20))
	case lab.Healthy:
		s.AwaitGrowth(a, "Tcp", "OutSegs", 1000)
	case lab.Distractor:
		s.AwaitGrowth(a, "TcpExt", "TCPSACKReorder", 5)
	}
	return s.Err()
}

// Package packetreordering makes a path on which packets overtake each other.
package packetreordering

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "packet-reordering",
	Title: "a path holds some packets of a TCP stream back for longer than a round trip, and loses none",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect: "packet-reordering",
		Subject: `10\.77\.6\.`,
	},
	Distractor: "the path loses packets: the receiver's out-of-order queue fills more than by reordering, and nothing is a duplicate",
	// Loss is a cause of the catalogue, and true there.
	DistractorWant: lab.Want{Also: []string{"packet-loss"}},
	Start:          start,
}

func start(s *lab.Stage, v lab.Variant) error {
	a, b := s.Netns("client"), s.Netns("server")
	path := []string{
		"--a", a + "/wan0/10.77.6.1/24", "--b", b + "/wan0/10.77.6.2/24",
		"--delay", "10ms", "--seed", "21",
	}
	switch v {
	case lab.Sick:
		// Held back for longer than a round trip: the sender can not learn to wait for it.
		path = append(path, "--reorder", lab.At(s, "0.04", "0.06", "0.12"), "--hold", "45ms")
	case lab.Distractor:
		path = append(path, "--loss", "0.03")
	}
	relay := s.Actor("", "wan-path", "tun-relay", path)
	s.AwaitPrinted(relay, "ready")
	sink := s.Actor(b, "upload-server", "tcp-sink", []string{"--listen", "10.77.6.2:8080"})
	s.AwaitPrinted(sink, "ready")
	s.Actor(a, "upload-client", "tcp-source", []string{"--to", "10.77.6.2:8080", "--rate", "750000", "--congestion", "cubic"})
	switch v {
	case lab.Sick:
		s.AwaitGrowth(a, "TcpExt", "TCPDSACKRecv", 20)
	case lab.Healthy:
		s.AwaitGrowth(a, "Tcp", "OutSegs", 1000)
	case lab.Distractor:
		s.AwaitGrowth(b, "TcpExt", "TCPOFOQueue", 50)
	}
	return s.Err()
}

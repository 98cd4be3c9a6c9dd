// Package nagledelayedack makes a client that sends each request in two small
// writes without TCP_NODELAY to a server that acknowledges with its answer.
package nagledelayedack

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "nagle-delayed-ack",
	Title: "requests of two small writes without TCP_NODELAY, about 25 per second",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "nagle-delayed-ack",
		Subject:  `api-client|:9000`,
		Symptoms: []string{"request-latency"},
	},
	Distractor: "answers as late and TCP_NODELAY off as well, but it is the server that takes 40 ms, and a request is one write",
	Start:      start,
	Remedy:     remedy,
}

func start(s *lab.Stage, v lab.Variant) error {
	srv, cli := s.Netns("server"), s.Netns("client")
	s.Veth(lab.End{Netns: srv, Device: "eth0", Addr: "10.81.1.1/24"}, lab.End{Netns: cli, Device: "eth0", Addr: "10.81.1.2/24"})
	server := []string{"--listen", "10.81.1.1:9000"}
	client := []string{"--to", "10.81.1.1:9000", "--every", lab.At(s, "12ms", "40ms", "40ms")}
	switch v {
	case lab.Healthy:
		client = append(client, "--nodelay")
	case lab.Distractor:
		server = append(server, "--think", "40ms")
		client = append(client, "--whole")
	}
	s.AwaitPrinted(s.Actor(srv, "api-server", "two-write-server", server), "ready")
	for range lab.At(s, 1, 1, 8) {
		s.AwaitPrinted(s.Actor(cli, "api-client", "two-write-client", client), "ready")
	}
	// Nagle is a hump, not a slope: a request that is held waits 20 to 40 ms, whatever
	// the rate. The levels differ in how many do.
	// A new connection is acknowledged at once for its first segments
	// (net/ipv4/tcp_input.c, tcp_enter_quickack_mode): wait until that is over.
	s.AwaitGrowth(srv, "Tcp", "InSegs", 100)
	return s.Err()
}

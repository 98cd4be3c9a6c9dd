// Package busythread makes a server of one event loop, on which a long task runs again and
// again.
package busythread

import (
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "busy-thread",
	Title: "a server of one thread computes a report every second, and its requests wait",
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "busy-thread",
		Subject:  `stock-server`,
		Symptoms: []string{"request-latency"},
	},
	Distractor: "the same server with as much to compute, in small requests that are all alike",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	c, srv := s.Netns("client"), s.Netns("server")
	s.Veth(lab.End{Netns: c, Device: "eth0", Addr: "10.77.31.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.77.31.2/24"})
	args := []string{"--listen", "10.77.31.2:8081", "--spin", "1ms"}
	switch v {
	case lab.Sick:
		args = append(args, "--task", lab.At(s, "80ms", "300ms", "900ms"), "--every", "1s")
	case lab.Distractor:
		args = []string{"--listen", "10.77.31.2:8081", "--spin", "4ms"}
	}
	s.AwaitPrinted(s.Actor(srv, "stock-server", "loop-server", args), "ready")
	s.AwaitPrinted(s.Actor(c, "stock-client", "rr-client", []string{"--to", "10.77.31.2:8081", "--conns", "8", "--every", "100ms"}, lab.Nice(-10)), "answers")
	s.Pause(2 * time.Second)
	return s.Err()
}

// Package runqueuewait makes a server that shares its CPU with a batch job while
// another CPU is idle.
package runqueuewait

import (
	"fmt"
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "run-queue-wait",
	Title: "a server is bound to CPU 0, and so is a batch job of several threads; CPU 1 has nothing to do",
	Long:  true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "run-queue-wait",
		Subject:  `api-server`,
		Symptoms: []string{"request-latency"},
	},
	Distractor: "the server is bound to CPU 0, and the batch job to CPU 1: each has its own",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	c, srv := s.Netns("client"), s.Netns("server")
	s.Veth(lab.End{Netns: c, Device: "eth0", Addr: "10.77.22.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.77.22.2/24"})
	server := s.Actor(srv, "api-server", "loop-server", []string{"--listen", "10.77.22.2:8081", "--spin", "4ms"}, lab.On("0"))
	s.AwaitPrinted(server, "ready")
	client := s.Actor(c, "api-client", "rr-client", []string{"--to", "10.77.22.2:8081", "--conns", "8", "--every", "100ms"}, lab.Nice(-10))
	s.AwaitPrinted(client, "answers")
	threads := []string{"--threads", fmt.Sprint(lab.At(s, 3, 5, 12))}
	switch v {
	case lab.Sick:
		s.AwaitPrinted(s.Actor("", "report-batch", "burner", threads, lab.On("0")), "ready")
	case lab.Distractor:
		s.AwaitPrinted(s.Actor("", "report-batch", "burner", threads, lab.On("1")), "ready")
	}
	s.Pause(2 * time.Second)
	return s.Err()
}

// Package cpusaturated makes a server that stands in the queue for the CPUs behind
// a batch job.
package cpusaturated

import (
	"fmt"
	"runtime"
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "cpu-saturated",
	Title: "a batch job with several threads for each CPU runs beside a server that needs a third of one",
	Long:  true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "cpu-saturated",
		Subject:  `report-batch`,
		Symptoms: []string{"request-latency"},
	},
	Distractor: "a batch job with two threads for each CPU runs at the lowest priority: all CPUs are busy, and the server answers in time",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	c, srv := s.Netns("client"), s.Netns("server")
	s.Veth(lab.End{Netns: c, Device: "eth0", Addr: "10.77.21.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.77.21.2/24"})
	server := s.Actor(srv, "api-server", "loop-server", []string{"--listen", "10.77.21.2:8081", "--spin", "4ms"})
	s.AwaitPrinted(server, "ready")
	// 80 requests per second of 4 ms each: 32 % of a CPU. The client runs before all
	// others: what it measures is the server.
	client := s.Actor(c, "api-client", "rr-client", []string{"--to", "10.77.21.2:8081", "--conns", "8", "--every", "100ms"}, lab.Nice(-10))
	s.AwaitPrinted(client, "answers")
	// The server has two threads at work at most: with five of the batch's on each of
	// two CPUs it still gets the third of a CPU that it needs.
	each := lab.At(s, 7, 8, 16)
	switch v {
	case lab.Sick:
		s.AwaitPrinted(s.Actor("", "report-batch", "burner", []string{"--threads", fmt.Sprint(each * runtime.NumCPU())}), "ready")
	case lab.Distractor:
		s.AwaitPrinted(s.Actor("", "report-batch", "burner", []string{"--threads", fmt.Sprint(2 * runtime.NumCPU())}, lab.Nice(19)), "ready")
	}
	s.Pause(2 * time.Second)
	return s.Err()
}

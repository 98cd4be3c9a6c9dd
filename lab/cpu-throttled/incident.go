// Package cputhrottled makes a server that its CPU quota holds back.
package cputhrottled

import (
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "cpu-throttled",
	Title: "a server needs 32 % of a CPU and its control group grants 20 %",
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "cpu-throttled",
		Subject:  `-web|api-server`,
		Symptoms: []string{"request-latency"},
	},
	Distractor: "a batch job without a socket is throttled all the time; the server beside it is not: a risk at most",
	Start:      start,
	Remedy:     remedy,
}

func start(s *lab.Stage, v lab.Variant) error {
	c, srv := s.Netns("client"), s.Netns("server")
	s.Veth(lab.End{Netns: c, Device: "eth0", Addr: "10.77.6.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.77.6.2/24"})
	var held *lab.Cgroup
	web := s.Cgroup("web", map[lab.Variant]float64{lab.Sick: lab.At(s, 0.3, 0.2, 0.08)}[v])
	if v == lab.Distractor {
		held = s.Cgroup("batch", 0.2)
		s.Actor("", "report-batch", "burner", nil, lab.In(held))
	} else {
		held = web
	}
	server := s.Actor(srv, "api-server", "loop-server", []string{"--listen", "10.77.6.2:8081", "--spin", "4ms"}, lab.In(web))
	s.AwaitPrinted(server, "ready")
	// 80 requests per second of 4 ms each: 32 % of a CPU.
	client := s.Actor(c, "api-client", "rr-client", []string{"--to", "10.77.6.2:8081", "--conns", "8", "--every", "100ms"})
	if v != lab.Healthy {
		s.Await("the control group to be throttled", 20*time.Second, func() (bool, error) {
			n, _, err := held.Throttled()
			return n >= 15, err
		})
	}
	s.AwaitPrinted(client, "answers")
	return s.Err()
}

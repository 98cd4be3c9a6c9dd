// Package numaimbalance makes a server that swaps on a full NUMA node while another
// has memory free.
package numaimbalance

import (
	"fmt"
	"strings"
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "numa-imbalance",
	Title: "shared memory fills node 0, on which a server is bound; node 1 is empty",
	Long:  true,
	VM:    &lab.VM{Nodes: 2, Memory: 1536, Modules: []string{"zram"}},
	Needs: []lab.Tool{lab.IP, lab.Mkswap},
	Want: lab.Want{
		Suspect:  "numa-imbalance",
		Subject:  `node 0`,
		Symptoms: []string{"request-latency"},
	},
	Distractor: "the shared memory fills node 1: the server's own has enough, and little is free elsewhere",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	c, srv := s.Netns("client"), s.Netns("server")
	s.Veth(lab.End{Netns: c, Device: "eth0", Addr: "10.77.27.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.77.27.2/24"})
	s.SwapOnZram(512)
	switch v {
	case lab.Sick:
		filled(s, s.Actor("", "shared-cache", "memory-hog", []string{"--mib", "480", "--node", "0"}))
	case lab.Distractor:
		filled(s, s.Actor("", "shared-cache", "memory-hog", []string{"--mib", "480", "--node", "1"}))
	}
	server := s.Actor(srv, "db-server", "loop-server", []string{"--listen", "10.77.27.2:8081", "--node", "0", "--heap", "220", "--pages", fmt.Sprint(lab.At(s, 40, 100, 300))})
	s.AwaitPrinted(server, "ready")
	client := s.Actor(c, "db-client", "rr-client", []string{"--to", "10.77.27.2:8081", "--conns", "8", "--every", "200ms"})
	s.AwaitPrinted(client, "answers")
	s.Pause(2 * time.Second)
	return s.Err()
}

// filled waits until a process has taken its memory: page by page, under emulation.
func filled(s *lab.Stage, hog *lab.Process) {
	s.Await(hog.Name+" to take its memory", 2*time.Minute, func() (bool, error) {
		return strings.Contains(hog.Printed(), "ready"), nil
	})
}

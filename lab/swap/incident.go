// Package swap makes a server whose memory lies in swap.
package swap

import (
	"fmt"
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "swap",
	Title: "a server's requests touch pages that its control group's memory limit has sent to swap",
	Long:  true,
	Needs: []lab.Tool{lab.IP, lab.Mkswap},
	Want: lab.Want{
		Suspect:  "memory-limit", // for which it swaps
		Subject:  `-little`,
		Symptoms: []string{"request-latency"},
		Said:     "swap",
	},
	Distractor: "a process that sleeps lies in swap; the server's memory is all there",
	Start:      start,
}

const limit = 40 // MiB; the heap is 96, so that more than half of it is in swap

func start(s *lab.Stage, v lab.Variant) error {
	c, srv := s.Netns("client"), s.Netns("server")
	s.Veth(lab.End{Netns: c, Device: "eth0", Addr: "10.77.24.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.77.24.2/24"})
	var group *lab.Cgroup
	if v != lab.Healthy {
		s.Swap(256)
		group = s.LittleMemory("little", limit)
	}
	args := []string{"--listen", "10.77.24.2:8081", "--heap", "96", "--pages", fmt.Sprint(lab.At(s, 250, 400, 1200))}
	var opts []lab.Option
	switch v {
	case lab.Sick:
		opts = []lab.Option{lab.In(group)}
	case lab.Distractor:
		// It fills its memory, of which most is swapped out, and then does nothing.
		sleeper := s.Actor("", "old-session", "loop-server", []string{"--listen", "127.0.0.1:0", "--heap", "96"}, lab.In(group))
		s.AwaitPrinted(sleeper, "ready")
	}
	server := s.Actor(srv, "cache-server", "loop-server", args, opts...)
	s.AwaitPrinted(server, "ready")
	client := s.Actor(c, "cache-client", "rr-client", []string{"--to", "10.77.24.2:8081", "--conns", "8", "--every", "100ms"})
	s.AwaitPrinted(client, "answers")
	s.Pause(2 * time.Second)
	return s.Err()
}

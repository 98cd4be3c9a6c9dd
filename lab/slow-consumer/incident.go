// Package slowconsumer makes a single-threaded relay that writes to one consumer
// after the other, and a consumer that stops reading.
package slowconsumer

import (
	"fmt"

	"snag/lab"
	"snag/lab/actor"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "slow-consumer",
	Title: "one consumer stops reading and blocks the single thread of a relay",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "slow-consumer",
		Subject:  `fanout-relay|:7001`,
		Symptoms: []string{"stream-freeze"},
	},
	Distractor: "the same consumer at a relay that never blocks: its send queue is as full, and no other consumer freezes",
	Start:      start,
}

const viewers = 3

func start(s *lab.Stage, v lab.Variant) error {
	srv, pub, cli := s.Netns("relay"), s.Netns("publisher"), s.Netns("viewers")
	s.Veth(lab.End{Netns: srv, Device: "eth0", Addr: "10.83.1.1/24"}, lab.End{Netns: pub, Device: "eth0", Addr: "10.83.1.2/24"})
	s.Veth(lab.End{Netns: srv, Device: "eth1", Addr: "10.83.2.1/24"}, lab.End{Netns: cli, Device: "eth0", Addr: "10.83.2.2/24"})
	relay := []string{"--publisher", "10.83.1.1:7000", "--consumers", "10.83.2.1:7001", "--count", fmt.Sprint(viewers + 1)}
	if v == lab.Distractor {
		relay = append(relay, "--drop")
	}
	r := s.Actor(srv, "fanout-relay", "fanout-relay", relay)
	s.AwaitPrinted(r, "ready")
	// The lazy one sits in the middle: those before it in the relay's round
	// freeze as well as those behind it.
	lazy := []string{"--to", "10.83.2.1:7001", "--rcvbuf", "65536"}
	if v != lab.Healthy {
		lazy = append(lazy, "--read", lab.At(s, "3s", "300ms", "500ms"), "--stop", lab.At(s, "3s", "5s", "8s"))
	}
	var all []*lab.Process
	for n := range viewers {
		if n == 1 {
			s.AwaitPrinted(s.Actor(cli, "lazy-viewer", "consumer", lazy), "ready")
		}
		p := s.Actor(cli, fmt.Sprintf("viewer%d", n+1), "consumer", []string{"--to", "10.83.2.1:7001"})
		s.AwaitPrinted(p, "ready")
		all = append(all, p)
	}
	s.Actor(pub, "publisher", "tcp-source", []string{"--to", "10.83.1.1:7000", "--rate", "500000", "--chunk", "4096"})
	s.AwaitPrinted(r, "relaying")
	for _, p := range all {
		s.AwaitOutput(p, "the stream came, and froze in the sick case", func(printed string) bool {
			line, _ := actor.LastLine(printed)
			return line.Count["read"] > 100 && (v != lab.Sick || line.Count["freeze"] > 0)
		})
	}
	if v == lab.Distractor {
		s.AwaitOutput(s.ProcessOf("lazy-viewer"), "it has stopped once", func(printed string) bool {
			line, _ := actor.LastLine(printed)
			return line.Count["freeze"] > 0
		})
	}
	return s.Err()
}

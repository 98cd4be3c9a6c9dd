// Package fqflowlimit makes a sender's bursts meet fq's limit for one flow.
package fqflowlimit

import (
	"fmt"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "fq-flow-limit",
	Title: "fq paces a UDP sender and drops what its bursts queue beyond flow_limit",
	VM:    &lab.VM{Modules: []string{"sch_fq"}},
	Needs: []lab.Tool{lab.IP, lab.TC},
	Want: lab.Want{
		Suspect:  "fq-flow-limit",
		Subject:  `fq .* on eth0`,
		Symptoms: []string{"datagrams-lost"},
	},
	Distractor: "the same packets from ten sockets: each flow stays below its limit",
	Start:      start,
	Remedy:     remedy,
}

func start(s *lab.Stage, v lab.Variant) error {
	tx, rx := s.Netns("tx"), s.Netns("rx")
	s.Veth(lab.End{Netns: tx, Device: "eth0", Addr: "10.77.33.1/24"}, lab.End{Netns: rx, Device: "eth0", Addr: "10.77.33.2/24"})
	limit := map[lab.Variant]string{lab.Sick: "100", lab.Healthy: "1000", lab.Distractor: "100"}[v]
	// Each flow leaves at 8 Mbit/s: a burst of 200 datagrams of 1,000 bytes takes 0.2 s.
	s.Command(tx, "tc", "qdisc", "replace", "dev", "eth0", "root", "fq", "flow_limit", limit, "maxrate", "8mbit")
	sink := s.Actor(rx, "receiver", "udp-sink", []string{"--listen", "10.77.33.2:1234", "--force-rcvbuf", "8000000"})
	s.AwaitPrinted(sink, "ready")
	senders, burst := 1, lab.At(s, 120, 200, 400)
	if v == lab.Distractor {
		// A source that woke late sends three bursts at once: they must fit as well.
		senders = lab.At(s, 5, 10, 20)
		burst /= senders
	}
	for i := range senders {
		s.Actor(tx, fmt.Sprintf("muxer%d", i), "udp-source", []string{"--to", "10.77.33.2:1234", "--rate", fmt.Sprint(2 * burst), "--burst", fmt.Sprint(burst), "--size", "1000", "--sndbuf", "4000000"})
	}
	s.AwaitGrowth(rx, "Udp", "InDatagrams", 300)
	return s.Err()
}

// Package qdiscdrop makes a shaper that drops what its short queue can't hold.
package qdiscdrop

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "qdisc-drop",
	Title: "a token bucket with a short queue drops a UDP sender's datagrams on their way out",
	Apart: true,
	Needs: []lab.Tool{lab.IP, lab.TC},
	Want: lab.Want{
		Suspect:  "qdisc-drop",
		Subject:  `eth0`,
		Symptoms: []string{"datagrams-lost"},
	},
	Distractor: "the token bucket shapes (overlimits grow), and its queue is long enough: nothing is dropped",
	Start:      start,
	Remedy:     remedy,
}

func start(s *lab.Stage, v lab.Variant) error {
	tx, rx := s.Netns("tx"), s.Netns("rx")
	s.Veth(lab.End{Netns: tx, Device: "eth0", Addr: "10.77.3.1/24"}, lab.End{Netns: rx, Device: "eth0", Addr: "10.77.3.2/24"})
	// The traffic is 400 datagrams of 1000 bytes per second, 3.2 Mbit/s, and 3.3 with
	// headers: one in 25 is lost at the least, six of seven at the most.
	shape := map[lab.Variant][]string{
		lab.Sick:       {"rate", lab.At(s, "3200kbit", "2mbit", "500kbit"), "burst", "5kb", "limit", "6kb"},
		lab.Healthy:    {"rate", "100mbit", "burst", "100kb", "limit", "300kb"},
		lab.Distractor: {"rate", "6mbit", "burst", "5kb", "limit", "1mb"},
	}[v]
	s.Command(tx, append([]string{"tc", "qdisc", "add", "dev", "eth0", "root", "tbf"}, shape...)...)
	sink := s.Actor(rx, "ts-receiver", "udp-sink", []string{"--listen", "10.77.3.2:1234"})
	s.AwaitPrinted(sink, "ready")
	burst := "1"
	if v == lab.Distractor {
		burst = "20" // what a bucket of 5 kB must hold back
	}
	s.Actor(tx, "ts-sender", "udp-source", []string{"--to", "10.77.3.2:1234", "--rate", "400", "--burst", burst, "--size", "1000"})
	if v == lab.Sick {
		s.AwaitGrowth(tx, "Ip", "OutDiscards", lab.At[uint64](s, 20, 100, 100))
	}
	s.AwaitGrowth(rx, "Udp", "InDatagrams", lab.At[uint64](s, 400, 400, 50))
	return s.Err()
}

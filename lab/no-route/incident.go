// Package noroute makes a router that lost the route to a network.
package noroute

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "no-route",
	Title: "a router has no route to the network that a stream is for",
	Long:  true,
	Apart: true,
	Needs: []lab.Tool{lab.IP, lab.Sysctl},
	Want: lab.Want{
		Suspect:  "no-route",
		Subject:  `10\.77\.24\.2`,
		Symptoms: []string{"datagrams-lost"},
	},
	Distractor: "the route is there, and somebody tries an address now and then that nobody has a route to",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	tx, hop, rx := s.Netns("tx"), s.Netns("router"), s.Netns("rx")
	s.Veth(lab.End{Netns: tx, Device: "eth0", Addr: "10.77.22.1/24"}, lab.End{Netns: hop, Device: "eth0", Addr: "10.77.22.2/24"})
	s.Veth(lab.End{Netns: hop, Device: "eth1", Addr: "10.77.23.1/24"}, lab.End{Netns: rx, Device: "eth0", Addr: "10.77.23.2/24"})
	s.Command(rx, "ip", "addr", "add", "10.77.24.2/32", "dev", "lo")
	s.Command(tx, "ip", "route", "add", "default", "via", "10.77.22.2")
	s.Command(rx, "ip", "route", "add", "default", "via", "10.77.23.1")
	s.Command(hop, "sysctl", "-qw", "net.ipv4.ip_forward=1")
	if v != lab.Sick {
		s.Command(hop, "ip", "route", "add", "10.77.24.0/24", "via", "10.77.23.2")
	}
	sink := s.Actor(rx, "srt-receiver", "udp-sink", []string{"--listen", "10.77.24.2:5006"})
	s.AwaitPrinted(sink, "ready")
	s.Actor(tx, "srt-sender", "udp-source", []string{"--to", "10.77.24.2:5006", "--rate", lab.At(s, "50", "300", "1000"), "--size", "1316"})
	if v == lab.Distractor {
		s.Actor(tx, "curious", "udp-probe", []string{"--host", "10.99.7.7", "--port", "7000", "--ports", "1", "--every", "2s"})
	}
	if v == lab.Sick {
		s.AwaitGrowth(hop, "IpExt", "InNoRoutes", 100)
	} else {
		s.AwaitGrowth(rx, "Udp", "InDatagrams", 100)
	}
	return s.Err()
}

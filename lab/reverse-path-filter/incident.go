// Package reversepathfilter makes a host with two networks that drops what comes in
// on the one from a sender that it would answer on the other.
package reversepathfilter

import (
	"fmt"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "reverse-path-filter",
	Title: "a host with two networks drops a stream, since it would answer by the other one (rp_filter=1)",
	Long:  true,
	Apart: true,
	Needs: []lab.Tool{lab.IP, lab.Sysctl},
	Want: lab.Want{
		Suspect:  "reverse-path-filter",
		Subject:  `eth1.*rp_filter`,
		Symptoms: []string{"datagrams-lost"},
	},
	Distractor: "the filter is as strict, the stream comes by the right network, and stray packets with a foreign sender are dropped now and then",
	Start:      start,
	Remedy:     remedy,
}

func start(s *lab.Stage, v lab.Variant) error {
	tx, rx := s.Netns("tx"), s.Netns("rx")
	s.Veth(lab.End{Netns: tx, Device: "eth0", Addr: "10.77.20.1/24"}, lab.End{Netns: rx, Device: "eth0", Addr: "10.77.20.2/24"})
	s.Veth(lab.End{Netns: tx, Device: "eth1", Addr: "10.77.21.1/24"}, lab.End{Netns: rx, Device: "eth1", Addr: "10.77.21.2/24"})
	// The ARP requests come with the address of the interface, or they would not be
	// answered either.
	s.Command(tx, "sysctl", "-qw", "net.ipv4.conf.all.arp_announce=2")
	filter := 1 // strict
	if v == lab.Healthy {
		filter = 2 // loose: any interface will do (Documentation/networking/ip-sysctl.rst)
	}
	s.Command(rx, "sysctl", "-qw", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.eth0.rp_filter=0", fmt.Sprintf("net.ipv4.conf.eth1.rp_filter=%d", filter))
	sink := s.Actor(rx, "srt-receiver", "udp-sink", []string{"--listen", "10.77.21.2:5006"})
	s.AwaitPrinted(sink, "ready")
	// To the second network, by the second network, with the address of the first.
	from := "10.77.20.1:6000"
	if v == lab.Distractor {
		s.Actor(tx, "stray", "udp-source", []string{"--from", from, "--to", "10.77.21.2:7000", "--rate", "0.5", "--size", "64"})
		from = "10.77.21.1:6000"
	}
	s.Actor(tx, "srt-sender", "udp-source", []string{"--from", from, "--to", "10.77.21.2:5006", "--rate", lab.At(s, "50", "300", "1000"), "--size", "1316"})
	if v == lab.Sick {
		s.AwaitGrowth(rx, "TcpExt", "IPReversePathFilter", 100)
	} else {
		s.AwaitGrowth(rx, "Udp", "InDatagrams", 100)
	}
	return s.Err()
}

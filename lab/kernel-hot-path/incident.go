// Package kernelhotpath makes a host whose kernel looks through a long list of
// firewall rules for each packet of a stream, which it did not in the good time.
package kernelhotpath

import (
	"fmt"
	"strings"
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "kernel-hot-path",
	Title: "a list of thousands of firewall rules is walked for each packet of a stream",
	Long:  true,
	Needs: []lab.Tool{lab.IP, lab.NFT},
	Want: lab.Want{
		Suspect: "kernel-hot-path",
		Subject: `nft_do_chain`,
	},
	Distractor: "the same thousands of ports in a set, which costs one look, and half as much traffic again: all functions grow alike",
	Start:      start,
}

// rate of datagrams per second: of some kB each they would be a camera wall.
const rate = 6000

func start(s *lab.Stage, v lab.Variant) error {
	tx, rx := s.Netns("tx"), s.Netns("rx")
	s.Veth(lab.End{Netns: tx, Device: "eth0", Addr: "10.77.46.1/24"}, lab.End{Netns: rx, Device: "eth0", Addr: "10.77.46.2/24"})
	sink := s.Actor(rx, "rtp-receiver", "udp-sink", []string{"--listen", "10.77.46.2:5004"})
	s.AwaitPrinted(sink, "ready")
	source := send(s, tx, rate)
	s.AwaitGrowth(rx, "Udp", "InDatagrams", rate)
	s.Baseline(6 * time.Second)
	ports := lab.At(s, 6000, 9000, 12000)
	switch v {
	case lab.Sick:
		s.Nft(rx, list(ports))
	case lab.Distractor:
		s.Nft(rx, set(ports))
		s.Stop(source)
		send(s, tx, rate*3/2)
	}
	return s.Err()
}

func send(s *lab.Stage, tx string, each int) *lab.Process {
	return s.Actor(tx, "rtp-source", "udp-source", []string{"--to", "10.77.46.2:5004", "--rate", fmt.Sprint(each), "--size", "400"})
}

// list blocks so many ports, a rule for each, as a script that adds one for every
// attacker does.
func list(ports int) string {
	var b strings.Builder
	b.WriteString("table inet lab-blocked {\n chain input {\n type filter hook input priority 0; policy accept;\n")
	for i := range ports {
		fmt.Fprintf(&b, "udp dport %d drop\n", 20000+i)
	}
	b.WriteString("}\n}\n")
	return b.String()
}

// set blocks the same ports by one rule.
func set(ports int) string {
	var b strings.Builder
	b.WriteString("table inet lab-blocked {\n set blocked {\n type inet_service; elements = {")
	for i := range ports {
		fmt.Fprintf(&b, "%d,", 20000+i)
	}
	b.WriteString("}\n}\n chain input {\n type filter hook input priority 0; policy accept;\nudp dport @blocked drop\n}\n}\n")
	return b.String()
}

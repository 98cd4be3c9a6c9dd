// Package netfilterdrop makes a firewall rule that drops part of a stream.
package netfilterdrop

import (
	"fmt"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "netfilter-drop",
	Title: "a firewall rule drops three of ten datagrams of a stream",
	Apart: true,
	Needs: []lab.Tool{lab.IP, lab.NFT},
	Want: lab.Want{
		Suspect:  "netfilter-drop",
		Subject:  `:5006|input|lab-filter`,
		Symptoms: []string{"datagrams-lost"},
	},
	Distractor: "rules that count and accept the stream, and a drop rule that meets a scanner's stray packets only",
	Start:      start,
}

// rules of the receiver's host. numgen is the kernel's own random source; it
// drops whole buffers, which for UDP are single datagrams.
var rules = map[lab.Variant]string{
	lab.Sick:    `udp dport 5006 numgen random mod 100 < %d counter drop`,
	lab.Healthy: `udp dport 5006 counter accept`,
	lab.Distractor: `udp dport 5006 counter accept
		udp dport 7000-7010 counter drop`,
}

func start(s *lab.Stage, v lab.Variant) error {
	tx, rx := s.Netns("tx"), s.Netns("rx")
	s.Veth(lab.End{Netns: tx, Device: "eth0", Addr: "10.77.4.1/24"}, lab.End{Netns: rx, Device: "eth0", Addr: "10.77.4.2/24"})
	rule := rules[v]
	if v == lab.Sick {
		rule = fmt.Sprintf(rule, lab.At(s, 1, 30, 95))
	}
	s.Nft(rx, "table inet lab-filter {\n chain input {\n type filter hook input priority 0; policy accept;\n"+rule+"\n}\n}\n")
	sink := s.Actor(rx, "srt-receiver", "udp-sink", []string{"--listen", "10.77.4.2:5006"})
	s.AwaitPrinted(sink, "ready")
	s.Actor(tx, "srt-sender", "udp-source", []string{"--to", "10.77.4.2:5006", "--rate", "300", "--size", "1316"})
	if v == lab.Distractor {
		s.Actor(tx, "scanner", "udp-probe", []string{"--host", "10.77.4.2", "--port", "7000", "--ports", "10", "--every", "4s"})
	}
	s.AwaitGrowth(rx, "Udp", "InDatagrams", lab.At[uint64](s, 300, 300, 50))
	return s.Err()
}

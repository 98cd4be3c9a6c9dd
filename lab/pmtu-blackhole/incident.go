// Package pmtublackhole makes a path with a hop of a smaller MTU whose ICMP
// messages are filtered.
package pmtublackhole

import (
	"fmt"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "pmtu-blackhole",
	Title: "uploads stop after their first small writes: a tunnel on the way takes 1,400 bytes, and a filter drops the ICMP that says so",
	Apart: true,
	Needs: []lab.Tool{lab.IP, lab.NFT, lab.Sysctl},
	Want: lab.Want{
		Suspect:  "pmtu-blackhole",
		Subject:  `tunnel.*lab.*-router`,
		Symptoms: []string{"stream-freeze"},
	},
	Distractor: "nothing at all comes through once the small writes are over, whatever its size",
	// Nor can the sender tell it from a peer that is gone; and the blackhole route
	// that makes it is named where it is seen.
	DistractorWant: lab.Want{Also: []string{"half-open-peer", "uplink-blackhole", "no-route"}},
	Start:          start,
	Remedy:         remedy,
}

// noICMP is a filter that means well.
const noICMP = `table inet lab-filter {
	chain output { type filter hook output priority 0; policy accept; ip protocol icmp counter drop; }
}
`

func start(s *lab.Stage, v lab.Variant) error {
	tx, hop, far, rx := s.Netns("client"), s.Netns("router"), s.Netns("far"), s.Netns("server")
	s.Veth(lab.End{Netns: tx, Device: "eth0", Addr: "10.77.27.1/24"}, lab.End{Netns: hop, Device: "eth0", Addr: "10.77.27.2/24"})
	s.Veth(lab.End{Netns: hop, Device: "tunnel0", Addr: "10.77.28.1/24"}, lab.End{Netns: far, Device: "tunnel0", Addr: "10.77.28.2/24"})
	s.Veth(lab.End{Netns: far, Device: "eth0", Addr: "10.77.29.1/24"}, lab.End{Netns: rx, Device: "eth0", Addr: "10.77.29.2/24"})
	for _, ns := range []string{hop, far} {
		s.Command(ns, "ip", "link", "set", "tunnel0", "mtu", "1400")
		s.Command(ns, "sysctl", "-qw", "net.ipv4.ip_forward=1")
	}
	s.Command(tx, "ip", "route", "add", "default", "via", "10.77.27.2")
	s.Command(hop, "ip", "route", "add", "default", "via", "10.77.28.2")
	s.Command(far, "ip", "route", "add", "default", "via", "10.77.28.1")
	s.Command(rx, "ip", "route", "add", "default", "via", "10.77.29.1")
	if v == lab.Sick {
		s.Nft(hop, noICMP)
	}
	sink := s.Actor(rx, "upload-server", "tcp-sink", []string{"--listen", "10.77.29.2:8080"})
	s.AwaitPrinted(sink, "ready")
	for n := range lab.At(s, 1, 3, 10) {
		up := s.Actor(tx, fmt.Sprintf("upload-%d", n+1), "tcp-source",
			[]string{"--to", "10.77.29.2:8080", "--rate", "200000", "--hello", "10"})
		s.AwaitPrinted(up, "ready")
	}
	switch v {
	case lab.Sick:
		s.AwaitGrowth(hop, "Ip", "FragFails", 4)
	case lab.Healthy:
		s.AwaitGrowth(tx, "Tcp", "OutSegs", 300)
	case lab.Distractor:
		s.AwaitGrowth(tx, "Tcp", "OutSegs", 60)
		// In silence: a blackhole route sends no ICMP.
		s.Command(far, "ip", "route", "add", "blackhole", "10.77.29.2/32")
		s.AwaitGrowth(tx, "Tcp", "RetransSegs", 4)
	}
	return s.Err()
}

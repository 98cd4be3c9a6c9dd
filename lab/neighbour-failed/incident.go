// Package neighbourfailed makes a gateway that does not answer.
package neighbourfailed

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "neighbour-failed",
	Title: "the gateway of a stream is gone from its link: nobody answers the ARP requests",
	Long:  true,
	Apart: true,
	Needs: []lab.Tool{lab.IP, lab.Sysctl},
	Want: lab.Want{
		Suspect:  "neighbour-failed",
		Subject:  `10\.77\.25\.254`,
		Symptoms: []string{"datagrams-lost"},
	},
	Distractor: "the gateway answers, and a scanner asks for five addresses of the link that nobody has",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	tx, gw := s.Netns("tx"), s.Netns("gateway")
	at := "10.77.25.254/24"
	if v == lab.Sick {
		at = "10.77.25.253/24"
	}
	s.Veth(lab.End{Netns: tx, Device: "eth0", Addr: "10.77.25.1/24"}, lab.End{Netns: gw, Device: "eth0", Addr: at})
	s.Command(gw, "ip", "addr", "add", "10.77.26.2/32", "dev", "lo")
	s.Command(tx, "ip", "route", "add", "default", "via", "10.77.25.254")
	sink := s.Actor(gw, "srt-receiver", "udp-sink", []string{"--listen", "10.77.26.2:5006"})
	s.AwaitPrinted(sink, "ready")
	s.Actor(tx, "srt-sender", "udp-source", []string{"--to", "10.77.26.2:5006", "--rate", lab.At(s, "50", "300", "1000"), "--size", "1316"})
	if v == lab.Distractor {
		for _, host := range []string{"10.77.25.101", "10.77.25.102", "10.77.25.103", "10.77.25.104", "10.77.25.105"} {
			s.Actor(tx, "scanner", "udp-probe", []string{"--host", host, "--port", "7000", "--ports", "10", "--every", "3s"})
		}
	}
	if v == lab.Sick {
		s.AwaitNeighbour(tx, "10.77.25.254", "FAILED", "INCOMPLETE")
	} else {
		s.AwaitGrowth(gw, "Udp", "InDatagrams", 100)
	}
	return s.Err()
}

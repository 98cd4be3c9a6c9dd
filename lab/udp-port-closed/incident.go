// Package udpportclosed makes an RTP sender that goes on after its receiver has
// closed the port.
package udpportclosed

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "udp-port-closed",
	Title: "an RTP sender goes on after the receiver closed its port",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "udp-port-closed",
		Subject:  `:5004`,
		Symptoms: []string{"datagrams-lost"},
	},
	Distractor: "somebody probes a few closed ports, as traceroute does, beside a stream that is well",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	tx, rx := s.Netns("tx"), s.Netns("rx")
	s.Veth(lab.End{Netns: tx, Device: "eth0", Addr: "10.77.2.1/24"}, lab.End{Netns: rx, Device: "eth0", Addr: "10.77.2.2/24"})
	args := []string{"--listen", "10.77.2.2:5004"}
	if v == lab.Sick {
		// Calls of two seconds; after each the sender is three seconds late to stop. At
		// the least, one datagram in thirty comes after the call.
		args = append(args, "--open", lab.At(s, "3s", "2s", "1s"), "--closed", lab.At(s, "100ms", "3s", "9s"))
	}
	sink := s.Actor(rx, "rtp-phone", "udp-sink", args)
	s.AwaitPrinted(sink, "ready")
	s.Actor(tx, "rtp-sender", "udp-source", []string{"--from", "10.77.2.1:6004", "--to", "10.77.2.2:5004", "--rate", "200", "--size", "172"})
	switch v {
	case lab.Sick:
		s.AwaitGrowth(rx, "Udp", "NoPorts", lab.At[uint64](s, 15, 50, 50))
	case lab.Distractor:
		s.Actor(tx, "traceroute", "udp-probe", []string{"--host", "10.77.2.2", "--port", "33434", "--ports", "3", "--every", "4s"})
		s.AwaitGrowth(rx, "Udp", "NoPorts", 1)
	}
	s.AwaitGrowth(rx, "Udp", "InDatagrams", 100)
	return s.Err()
}

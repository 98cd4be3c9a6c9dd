// Package udpreceivebufferfull makes a UDP receiver whose socket buffer is too
// small for the bursts that it gets.
package udpreceivebufferfull

import (
	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "udp-receive-buffer-full",
	Title: "an RTP receiver's socket buffer holds fewer datagrams than a burst has",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "udp-receive-buffer-full",
		Subject:  `rtp-sink|:5004`,
		Symptoms: []string{"datagrams-lost"},
	},
	Distractor: "a buffer just as small that never overflows; the drops in the counters are from before the window",
	Start:      start,
	Remedy:     remedy,
}

func start(s *lab.Stage, v lab.Variant) error {
	tx, rx := s.Netns("tx"), s.Netns("rx")
	s.Veth(lab.End{Netns: tx, Device: "eth0", Addr: "10.77.1.1/24"}, lab.End{Netns: rx, Device: "eth0", Addr: "10.77.1.2/24"})
	// 32 kB asked for are 64 kB of skb memory: 28 datagrams of 1200 bytes at 2304
	// each. The bursts have 40, and come faster than they are read.
	rcvbuf := "32768"
	if v == lab.Healthy {
		rcvbuf = "212992"
	}
	sink := s.Actor(rx, "rtp-sink", "udp-sink", []string{"--listen", "10.77.1.2:5004", "--rcvbuf", rcvbuf, "--work", "400us"})
	s.AwaitPrinted(sink, "ready")
	source := []string{"--to", "10.77.1.2:5004", "--size", "1200"}
	if v == lab.Distractor {
		source = append(source, "--first", "2000", "--rate", "100")
	} else {
		source = append(source, "--burst", "40", "--rate", lab.At(s, "300", "600", "3000"))
	}
	if lab.At(s, true, false, false) && v == lab.Sick {
		// A steady stream, and now and then a burst: about one datagram in fifty is lost.
		source = []string{"--to", "10.77.1.2:5004", "--size", "1200", "--rate", "300"}
		s.Actor(tx, "rtp-source2", "udp-source", []string{"--to", "10.77.1.2:5004", "--size", "1200", "--burst", "40", "--rate", "20"})
	}
	s.Actor(tx, "rtp-source", "udp-source", source)
	switch v {
	case lab.Sick:
		s.AwaitGrowth(rx, "Udp", "RcvbufErrors", lab.At[uint64](s, 20, 100, 100))
	case lab.Healthy:
		s.AwaitGrowth(rx, "Udp", "InDatagrams", 600)
	case lab.Distractor:
		// The burst is over and counted, and the steady stream flows, before snag looks.
		s.AwaitGrowth(rx, "Udp", "InDatagrams", 300)
	}
	return s.Err()
}

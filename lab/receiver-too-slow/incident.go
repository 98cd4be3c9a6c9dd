// Package receivertooslow makes a receiver of datagrams that takes longer for each than the
// next takes to come.
package receivertooslow

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "receiver-too-slow",
	Title: "an RTP receiver takes 4 ms for each of 600 datagrams per second: its buffer is full all the time",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "receiver-too-slow",
		Subject:  `rtp-sink|:5004`,
		Symptoms: []string{"datagrams-lost"},
	},
	Distractor:     "a receiver that keeps up, and a buffer that holds less than a burst",
	DistractorWant: lab.Want{Suspect: "udp-receive-buffer-full", Subject: `rtp-sink|:5004`},
	Start:          start,
}

const at = "10.77.34.2:5004"

func start(s *lab.Stage, v lab.Variant) error {
	tx, rx := s.Netns("tx"), s.Netns("rx")
	s.Veth(lab.End{Netns: tx, Device: "eth0", Addr: "10.77.34.1/24"}, lab.End{Netns: rx, Device: "eth0", Addr: "10.77.34.2/24"})
	rcvbuf, work, burst := "212992", "200us", "1"
	switch v {
	case lab.Sick:
		work = lab.At(s, "2ms", "4ms", "20ms")
	case lab.Distractor:
		rcvbuf, burst = "32768", "40"
	}
	s.AwaitPrinted(s.Actor(rx, "rtp-sink", "udp-sink", []string{"--listen", at, "--rcvbuf", rcvbuf, "--work", work}), "ready")
	s.Actor(tx, "rtp-source", "udp-source", []string{"--to", at, "--size", "1200", "--rate", "600", "--burst", burst})
	if v == lab.Healthy {
		s.AwaitGrowth(rx, "Udp", "InDatagrams", 600)
	} else {
		s.AwaitGrowth(rx, "Udp", "RcvbufErrors", 100)
	}
	return s.Err()
}

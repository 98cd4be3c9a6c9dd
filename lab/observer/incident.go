// Package observer starves snag itself: what it then sees of a healthy host must
// not be held against anybody.
package observer

import "snag/lab"

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:       "observer",
	Title:      "snag itself gets 8 % of a CPU, beside a stream that is well",
	Needs:      []lab.Tool{lab.IP},
	Want:       lab.Want{Said: "observer", Also: []string{"observer"}},
	Distractor: "the machine is busy with a batch job of the lowest priority, and snag is on time",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	tx, rx := s.Netns("tx"), s.Netns("rx")
	s.Veth(lab.End{Netns: tx, Device: "eth0", Addr: "10.77.8.1/24"}, lab.End{Netns: rx, Device: "eth0", Addr: "10.77.8.2/24"})
	sink := s.Actor(rx, "rtp-phone", "udp-sink", []string{"--listen", "10.77.8.2:5004"})
	s.AwaitPrinted(sink, "ready")
	s.Actor(tx, "rtp-sender", "udp-source", []string{"--to", "10.77.8.2:5004", "--rate", "200", "--size", "172"})
	server := s.Actor(rx, "api-server", "rr-server", []string{"--listen", "10.77.8.2:8081"})
	s.AwaitPrinted(server, "ready")
	s.Actor(tx, "api-client", "rr-client", []string{"--to", "10.77.8.2:8081", "--every", "20ms"})
	switch v {
	case lab.Sick:
		s.FindIn(lab.In(s.Cgroup("snag", lab.At(s, 0.1, 0.08, 0.04))))
	case lab.Distractor:
		s.Actor("", "report-batch", "burner", []string{"--threads", "2"}, lab.Nice(19))
	}
	s.AwaitGrowth(rx, "Udp", "InDatagrams", 300)
	return s.Err()
}

// Package machinepaused stops the whole machine for some seconds.
package machinepaused

import (
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "machine-paused",
	Title: "the host of a virtual machine stops it for 4 s in the middle of a stream",
	Long:  true,
	VM:    &lab.VM{Paused: true},
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect: "machine-paused",
		Subject: `this host|"kind":"host"`,
	},
	Distractor: "snag alone is stopped for 4 s (SIGSTOP): the machine and its stream go on",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	src, dst := s.Netns("source"), s.Netns("player")
	s.Veth(lab.End{Netns: src, Device: "eth0", Addr: "10.77.25.1/24"}, lab.End{Netns: dst, Device: "eth0", Addr: "10.77.25.2/24"})
	sink := s.Actor(dst, "media-player", "tcp-sink", []string{"--listen", "10.77.25.2:9000"})
	s.AwaitPrinted(sink, "ready")
	s.Actor(src, "media-encoder", "tcp-source", []string{"--to", "10.77.25.2:9000", "--rate", "200000"})
	s.AwaitPrinted(sink, "received")
	if v == lab.Distractor {
		s.AwaitPrinted(s.Actor("", "careless-script", "find-stopper", nil, lab.MayEnd()), "ready")
	}
	s.Pause(time.Second)
	return s.Err()
}

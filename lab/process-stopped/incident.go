// Package processstopped makes a relay that somebody stops, again and again.
package processstopped

import (
	"strconv"
	"syscall"
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "process-stopped",
	Title: "a script stops a relay (SIGSTOP) for 4 s, lets it go for 1 s, and so on",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect: "process-stopped",
		Subject: `media-relay`,
	},
	Distractor: "a stopped editor that has no peers, and a server that is idle, beside a relay that runs",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	relay := relayed(s)
	switch v {
	case lab.Sick:
		stops(s, relay, lab.At(s, "1500ms", "4s", "30s"), lab.At(s, "3s", "1s", "1s"))
	case lab.Distractor:
		editor := s.Actor("", "text-editor", "sleeper", nil)
		s.AwaitPrinted(editor, "ready")
		s.Signal(editor, syscall.SIGSTOP)
		s.Actor(s.Name("relay"), "idle-server", "idle-server", []string{"--listen", "10.77.7.2:9900"})
		s.AwaitState(editor, 'T')
	}
	s.Pause(time.Second)
	return s.Err()
}

// relayed starts an encoder, a relay and a player, and returns the relay.
func relayed(s *lab.Stage) *lab.Process {
	src, mid := s.Netns("source"), s.Netns("relay")
	s.Veth(lab.End{Netns: src, Device: "eth0", Addr: "10.77.7.1/24"}, lab.End{Netns: mid, Device: "eth0", Addr: "10.77.7.2/24"})
	sink := s.Actor(src, "media-player", "tcp-sink", []string{"--listen", "10.77.7.1:9001"})
	s.AwaitPrinted(sink, "ready")
	relay := s.Actor(mid, "media-relay", "tcp-relay", []string{"--listen", "10.77.7.2:9000", "--to", "10.77.7.1:9001"})
	s.AwaitPrinted(relay, "ready")
	s.Actor(src, "media-encoder", "tcp-source", []string{"--to", "10.77.7.2:9000", "--rate", "500000"})
	s.AwaitPrinted(sink, "received")
	return relay
}

// stops begins the script and waits until it has stopped the process.
func stops(s *lab.Stage, p *lab.Process, stop, run string) {
	s.Actor("", "backup-script", "stopper", []string{"--pid", strconv.Itoa(p.PID), "--stop", stop, "--run", run})
	s.AwaitState(p, 'T')
}

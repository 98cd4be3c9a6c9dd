// Package unixbacklog makes a server on a UNIX socket whose backlog is shorter than the
// bursts in which its clients come.
package unixbacklog

import (
	"path/filepath"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "unix-backlog",
	Title: "a server on a UNIX socket with a backlog of 5 gets its clients in bursts of 20",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "unix-backlog",
		Subject:  `app\.sock`,
		Symptoms: []string{"connection-errors"},
	},
	Distractor: "a server that is too slow to accept, with a backlog that holds all who wait: late answers, nobody refused",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	ns, at := s.Netns("app"), filepath.Join(s.Dir(), "app.sock")
	backlog, work, burst := "5", "2ms", lab.At(s, "10", "20", "40")
	switch v {
	case lab.Healthy:
		backlog = "128"
	case lab.Distractor:
		backlog, work = "1024", "40ms"
	}
	if v != lab.Sick {
		burst = "20"
	}
	s.AwaitPrinted(s.Actor(ns, "app-pool", "slow-acceptor", []string{"--listen", at, "--backlog", backlog, "--work", work}), "ready")
	// Of a refused burst nobody comes back: the backlog is all that is short.
	gateway := s.Actor(ns, "gateway", "caller", []string{"--to", at, "--rate", "40", "--burst", burst, "--clients", "200", "--timeout", "30s"})
	s.AwaitPrinted(gateway, "answer")
	return s.Err()
}

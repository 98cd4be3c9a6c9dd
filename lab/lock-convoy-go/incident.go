// Package lockconvoygo makes a Go server whose goroutines share one connection to a
// backend under a mutex that is held until the backend has answered.
package lockconvoygo

import (
	"fmt"
	"time"

	"snag/lab"
)

// Incident is lock-convoy in a Go program, whose mutexes park goroutines and no threads.
var Incident = lab.Incident{
	Name:  "lock-convoy-go",
	Title: "24 goroutines share one connection to a backend under a sync.Mutex that is held while the backend works",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "lock-convoy",
		Subject:  `shared-server`,
		Symptoms: []string{"request-latency"},
	},
	Distractor: "each goroutine has its own connection, and thrice as many wait on a channel for work that never comes",
	Start:      start,
}

const goroutines = 24

func start(s *lab.Stage, v lab.Variant) error {
	ns := s.Netns("api")
	backend := s.Actor(ns, "backend", "rr-server", []string{"--listen", "127.0.0.1:5432", "--wait", "20ms"})
	s.AwaitPrinted(backend, "ready")
	args := []string{"--listen", "127.0.0.1:8080", "--backend", "127.0.0.1:5432"}
	switch v {
	case lab.Healthy:
		args = append(args, "--own")
	case lab.Distractor:
		args = append(args, "--own", "--idle", fmt.Sprint(3*goroutines))
	}
	server := s.Actor(ns, "shared-server", "shared-server", args)
	s.AwaitPrinted(server, "ready")
	// The backend answers 50 requests per second on the shared connection. Clients
	// send at their own pace, whether they were answered or not.
	every := lab.At(s, 400*time.Millisecond, 250*time.Millisecond, 100*time.Millisecond)
	client := s.Actor(ns, "client", "rr-client", []string{"--to", "127.0.0.1:8080", "--conns", fmt.Sprint(goroutines), "--every", every.String(), "--open"})
	s.AwaitPrinted(client, "answers")
	s.Pause(time.Second)
	return s.Err()
}

// Package lockconvoy makes a server whose threads share one connection to a backend
// under a mutex that is held until the backend has answered.
package lockconvoy

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/threadserver"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "lock-convoy",
	Title: "24 threads share one connection to a backend under a lock that is held while the backend works",
	Apart: true,
	Needs: []lab.Tool{lab.IP, threadserver.Compiler},
	Want: lab.Want{
		Suspect:  "lock-convoy",
		Subject:  `thread-server`,
		Symptoms: []string{"request-latency"},
	},
	Distractor: "each thread has its own connection, and thrice as many threads wait in futex for work that never comes",
	Start:      start,
}

const workers = 24

func start(s *lab.Stage, v lab.Variant) error {
	ns := s.Netns("api")
	backend := s.Actor(ns, "backend", "rr-server", []string{"--listen", "127.0.0.1:5432", "--wait", "20ms"})
	s.AwaitPrinted(backend, "ready")
	how := map[lab.Variant]string{lab.Sick: "shared", lab.Healthy: "own", lab.Distractor: "pool"}[v]
	threadserver.Start(s, ns, 8080, workers, how, "5432")
	// The backend answers 50 requests per second on the shared connection. Clients
	// send at their own pace, whether they were answered or not.
	every := lab.At(s, 400*time.Millisecond, 250*time.Millisecond, 100*time.Millisecond)
	client := s.Actor(ns, "client", "rr-client", []string{"--to", "127.0.0.1:8080", "--conns", fmt.Sprint(workers), "--every", every.String(), "--open"})
	s.AwaitPrinted(client, "answers")
	s.Pause(time.Second)
	return s.Err()
}

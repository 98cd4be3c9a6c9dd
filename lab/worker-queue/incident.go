// Package workerqueue makes a server of two workers that sleep in each request, and
// more requests than they can take.
package workerqueue

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/threadserver"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "worker-queue",
	Title: "two workers that sleep 25 ms in each request, and twice the requests that they can take",
	Long:  true,
	Apart: true,
	Needs: []lab.Tool{lab.IP, threadserver.Compiler},
	Want: lab.Want{
		Suspect: "worker-queue",
		Subject: `thread-server`,
	},
	Distractor: "workers enough, each of which takes 400 ms: the answers are as late, and nobody queues",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	ns := s.Netns("api")
	workers, nap := 2, 25 // 80 requests per second
	switch v {
	case lab.Healthy:
		workers = 64
	case lab.Distractor:
		workers, nap = 64, 400
	}
	threadserver.Start(s, ns, 8080, workers, "sleep", fmt.Sprint(nap))
	// 20 clients, each of which asks again once it was answered and that time is over.
	every := lab.At(s, 200*time.Millisecond, 100*time.Millisecond, 20*time.Millisecond)
	client := s.Actor(ns, "client", "rr-client", []string{"--to", "127.0.0.1:8080", "--conns", "20", "--every", every.String()})
	s.AwaitPrinted(client, "answers")
	s.Pause(time.Second)
	return s.Err()
}

// Package spinlock makes a server whose workers compute under one lock that spins, and
// that is given more workers than there are CPUs.
package spinlock

import (
	"fmt"
	"syscall"
	"time"

	"snag/lab"
	"snag/lab/threadserver"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "spin-lock",
	Title: "a server whose lock spins is given more workers, and does less",
	Long:  true,
	Needs: []lab.Tool{lab.IP, threadserver.Compiler},
	Want: lab.Want{
		Suspect: "spin-lock",
		Subject: `thread-server`,
		// It takes all CPUs there are.
		Also: []string{"cpu-saturated", "run-queue-wait"},
	},
	Distractor: "the same with a lock that sleeps: as many workers, and as much is done",
	DistractorWant: lab.Want{
		Also: []string{"cpu-saturated", "run-queue-wait", "lock-convoy"}, // it is busy, and they queue for the lock
	},
	Start: start,
}

func start(s *lab.Stage, v lab.Variant) error {
	ns := s.Netns("engine")
	lock := "spin"
	if v == lab.Distractor {
		lock = "mutex"
	}
	more := lab.At(s, 6, 14, 30)
	server := threadserver.Start(s, ns, 8080, 2, lock, fmt.Sprint(more))
	client := s.Actor(ns, "client", "rr-client", []string{"--to", "127.0.0.1:8080", "--conns", "40", "--every", "1ms"})
	s.AwaitPrinted(client, "answers")
	if v != lab.Healthy {
		s.BreaksIn(server, syscall.SIGUSR1)
	}
	s.Pause(time.Second)
	return s.Err()
}

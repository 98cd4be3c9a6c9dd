// Package spinlocksteady makes a server whose workers compute under a lock of its own
// that spins, from first to last: nothing changes that could be compared, and no
// function's name tells.
package spinlocksteady

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/threadserver"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "spin-lock-steady",
	Title: "a server with more workers than CPUs has its own lock that spins, in a function whose name does not tell",
	Long:  true,
	Needs: []lab.Tool{lab.IP, threadserver.Compiler},
	Want: lab.Want{
		Suspect: "spin-lock",
		Subject: `thread-server`,
		// It takes all CPUs there are.
		Also: []string{"cpu-saturated", "run-queue-wait"},
	},
	Distractor: "as many workers compute and add to one counter, with as much CPU and as late: honest work",
	DistractorWant: lab.Want{
		Also: []string{"cpu-saturated", "run-queue-wait"},
	},
	Start: start,
}

func start(s *lab.Stage, v lab.Variant) error {
	ns := s.Netns("engine")
	lock := map[lab.Variant]string{lab.Sick: "latch", lab.Healthy: "latch", lab.Distractor: "count"}[v]
	many := lab.At(s, 12, 24, 48)
	workers := many
	if v == lab.Healthy {
		workers = 2 // who wants the lock has it soon: its holder is on a CPU
	}
	// So nice that snag, which is not, is on time beside so many that never sleep.
	threadserver.Start(s, ns, 8080, workers, lock, "0", lab.Nice(10))
	client := s.Actor(ns, "client", "rr-client", []string{"--to", "127.0.0.1:8080", "--conns", fmt.Sprint(4 * many), "--every", "60ms"})
	s.AwaitPrinted(client, "answers")
	s.Pause(time.Second)
	return s.Err()
}

// Package slowdependency makes a server each of whose answers needs one of a backend
// that has become slow.
package slowdependency

import (
	"time"

	"snag/lab"
	"snag/lab/threadserver"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "slow-dependency",
	Title: "a server's answers each need one of a backend, which takes 400 ms",
	Long:  true,
	Apart: true,
	Needs: []lab.Tool{lab.IP, threadserver.Compiler},
	Want: lab.Want{
		Suspect: "slow-dependency",
		Subject: `thread-server|:5432`,
	},
	Distractor: "the slow backend has another client, a job that nobody waits for; the server's own backend is quick",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	api, db := s.Netns("api"), s.Netns("db")
	s.Veth(lab.End{Netns: api, Device: "eth0", Addr: "10.78.5.1/24"}, lab.End{Netns: db, Device: "eth0", Addr: "10.78.5.2/24"})
	slow := lab.At(s, 120*time.Millisecond, 400*time.Millisecond, 1500*time.Millisecond)
	wait := 2 * time.Millisecond
	if v == lab.Sick {
		wait = slow
	}
	s.AwaitPrinted(s.Actor(db, "database", "rr-server", []string{"--listen", "10.78.5.2:5432", "--wait", wait.String()}), "ready")
	if v == lab.Distractor {
		s.AwaitPrinted(s.Actor(db, "archive", "rr-server", []string{"--listen", "10.78.5.2:6000", "--wait", slow.String()}), "ready")
		s.AwaitPrinted(s.Actor(api, "nightly-job", "rr-client", []string{"--to", "10.78.5.2:6000", "--conns", "2", "--every", "10ms"}), "answers")
	}
	threadserver.Start(s, api, 8080, 16, "own", "10.78.5.2:5432")
	client := s.Actor(api, "client", "rr-client", []string{"--to", "127.0.0.1:8080", "--conns", "8", "--every", "100ms"})
	s.AwaitPrinted(client, "answers")
	s.Pause(time.Second)
	return s.Err()
}

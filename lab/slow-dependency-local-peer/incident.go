// Package slowlocalpeer makes a server each of whose answers needs one of a database on
// the same host, over a UNIX socket.
package slowlocalpeer

import (
	"fmt"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/threadserver"
)

// Incident is slow-dependency over a UNIX socket.
var Incident = lab.Incident{
	Name:  "slow-dependency-local-peer",
	Title: "a server's answers each need one of a database on the same host, over a UNIX socket, which takes 400 ms",
	Long:  true,
	Apart: true,
	Needs: []lab.Tool{lab.IP, threadserver.Compiler},
	Want: lab.Want{
		Suspect: "slow-dependency",
		Subject: `database\.sock`,
	},
	Distractor: "the database is quick, and its idle connections wait; the handler itself sleeps as long",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	ns := s.Netns("api")
	slow := lab.At(s, 120*time.Millisecond, 400*time.Millisecond, 1500*time.Millisecond)
	wait, nap := 2*time.Millisecond, 0*time.Millisecond
	switch v {
	case lab.Sick:
		wait = slow
	case lab.Distractor:
		nap = slow
	}
	at := filepath.Join(s.Dir(), "database.sock")
	s.AwaitPrinted(s.Actor(ns, "database", "rr-server", []string{"--listen", at, "--wait", wait.String()}), "ready")
	threadserver.Start(s, ns, 8080, 16, "own", at, lab.Env(fmt.Sprint("NAP_MS=", nap.Milliseconds())))
	client := s.Actor(ns, "client", "rr-client", []string{"--to", "127.0.0.1:8080", "--conns", "8", "--every", "100ms"})
	s.AwaitPrinted(client, "answers")
	s.Pause(time.Second)
	return s.Err()
}

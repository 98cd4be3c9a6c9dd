// Package syscallfailing makes a web service that has no room for its orders.
package syscallfailing

import (
	"os"
	"path/filepath"
	"syscall"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "syscall-failing",
	Title: "a web service keeps each order in a file, and the file system is full",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "syscall-failing",
		Subject:  `:8084`,
		Symptoms: []string{"failed-answers"},
	},
	Distractor:     "a file system is full, on which nobody writes, and the service answers with 503 for another reason",
	DistractorWant: lab.Want{Suspect: "error-answers", Subject: `:8084`},
	Start:          start,
}

func start(s *lab.Stage, v lab.Variant) error {
	cli, srv := s.Netns("clients"), s.Netns("server")
	s.Veth(lab.End{Netns: cli, Device: "eth0", Addr: "10.89.3.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.89.3.2/24"})
	orders, old := filepath.Join(s.Dir(), "orders"), filepath.Join(s.Dir(), "old")
	s.Memory(orders, 4)
	s.Memory(old, 4)
	full := map[lab.Variant]string{lab.Sick: orders, lab.Distractor: old}[v]
	if full != "" && s.Err() == nil {
		_ = os.WriteFile(filepath.Join(full, "old-orders"), make([]byte, 8<<20), 0o600) // it ends where the room does
	}
	server := s.Actor(srv, "web-shop", "http-backend", []string{"--listen", "10.89.3.2:8084", "--wait", "2ms", "--size", "4000", "--store", orders, "--then", "errors", "--share", "0.33"})
	s.AwaitPrinted(server, "ready")
	if v == lab.Distractor {
		s.Signal(server, syscall.SIGUSR2)
	}
	every := lab.At(s, "200ms", "50ms", "10ms")
	if v != lab.Sick {
		every = "50ms"
	}
	s.AwaitPrinted(s.Actor(cli, "web-users", "http-client", []string{"--url", "http://10.89.3.2:8084/", "--conns", "4", "--every", every, "--any"}), "answers")
	return s.Err()
}

// Package slowdnsanswers makes a server that looks a name up for each answer, and a name
// server that answers, but late.
package slowdnsanswers

import (
	"time"

	"snag/lab"
	"snag/lab/threadserver"
)

// Incident is slow-dependency by a name server that is slow, and not dead.
var Incident = lab.Incident{
	Name:  "slow-dependency-dns-answers",
	Title: "each answer needs a name, and the name server takes 400 ms to tell it",
	Long:  true,
	Apart: true,
	Needs: []lab.Tool{lab.IP, lab.Unshare, threadserver.Compiler},
	Want: lab.Want{
		Suspect: "slow-dependency",
		Subject: `10\.78\.8\.2:53`,
	},
	Distractor: "a job that nobody waits for asks a dead name server; the server's own answers at once",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	api, dns := s.Netns("api"), s.Netns("dns")
	s.Veth(lab.End{Netns: api, Device: "eth0", Addr: "10.78.8.1/24"}, lab.End{Netns: dns, Device: "eth0", Addr: "10.78.8.2/24"})
	s.Command(dns, "ip", "addr", "add", "10.78.8.3/24", "dev", "eth0")
	wait := time.Millisecond
	if v == lab.Sick {
		wait = lab.At(s, 150*time.Millisecond, 400*time.Millisecond, 1500*time.Millisecond)
	}
	s.AwaitPrinted(s.Actor(dns, "named", "name-server", []string{"--listen", "10.78.8.2:53", "--wait", wait.String()}), "ready")
	if v == lab.Distractor {
		dead := s.Actor(dns, "named-dead", "name-server", []string{"--listen", "10.78.8.3:53", "--silent"})
		s.AwaitPrinted(dead, "ready")
		job := []string{"sh", "-c", "while :; do getent ahosts backend.example.; done"}
		s.Run(api, "nightly-job", s.Resolving("nameserver 10.78.8.3\nnameserver 10.78.8.2\noptions timeout:1\n", job...))
		s.AwaitPrinted(dead, "queries")
	}
	threadserver.StartResolving(s, api, "nameserver 10.78.8.2\n", 8080, 16, "names", "0")
	client := s.Actor(api, "client", "rr-client", []string{"--to", "127.0.0.1:8080", "--conns", "8", "--every", "100ms"})
	s.AwaitPrinted(client, "answers")
	s.Pause(time.Second)
	return s.Err()
}

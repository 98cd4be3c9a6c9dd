// Package fdlimit makes a server that leaks its connections until RLIMIT_NOFILE.
package fdlimit

import (
	"snag/lab"
	"snag/lab/actor"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "fd-limit",
	Title: "a server keeps every descriptor and has reached its limit of 64",
	Apart: true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "fd-limit",
		Subject:  `token-server|:8443`,
		Symptoms: []string{"connection-errors"},
	},
	Distractor: "the same server at 70 % of its limit, and all is answered",
	Start:      start,
	Remedy:     remedy,
}

func start(s *lab.Stage, v lab.Variant) error {
	return leak(s, v)
}

// leak starts the server, with more arguments, and its clients.
func leak(s *lab.Stage, v lab.Variant, more ...string) error {
	srv, cli := s.Netns("server"), s.Netns("clients")
	s.Veth(lab.End{Netns: srv, Device: "eth0", Addr: "10.84.1.1/24"}, lab.End{Netns: cli, Device: "eth0", Addr: "10.84.1.2/24"})
	keep := map[lab.Variant]string{lab.Sick: "-1", lab.Healthy: "0", lab.Distractor: "39"}[v]
	args := []string{"--listen", "10.84.1.1:8443", "--limit", "64", "--keep", keep}
	args = append(args, more...)
	call := []string{"--to", "10.84.1.1:8443", "--rate", lab.At(s, "20", "15", "60"), "--timeout", lab.At(s, "500ms", "3s", "3s")}
	atLeast := lab.At(s, 5, 15, 15) // unanswered
	barely := v == lab.Sick && lab.At(s, true, false, false)
	if barely {
		// It lets go after 2 s and has enough for its usual clients, not for a burst.
		args = append(args, "--hold", "2s")
	}
	server := s.Actor(srv, "token-server", "leaky-server", args)
	s.AwaitPrinted(server, "ready")
	client := s.Actor(cli, "token-client", "caller", call)
	if barely {
		s.Actor(cli, "token-burst", "caller", []string{"--to", "10.84.1.1:8443", "--rate", "7.5", "--burst", "30", "--timeout", "500ms"})
	}
	s.AwaitOutput(client, "answers came, and none in the sick case", func(printed string) bool {
		line, _ := actor.LastLine(printed)
		if v == lab.Sick {
			return line.Count["unanswered"] >= atLeast
		}
		return line.Count["answer"] >= 60
	})
	return s.Err()
}

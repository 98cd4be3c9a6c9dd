// Package slowdns makes a server that looks a name up for each answer, and whose first
// name server is dead.
package slowdns

import (
	"fmt"
	"time"

	"snag/lab"
	"snag/lab/threadserver"
)

// Incident is slow-dependency by the name server, which never answers.
var Incident = lab.Incident{
	Name:  "slow-dependency-dns",
	Title: "each answer needs a name, and the first name server of resolv.conf does not answer",
	Long:  true,
	Apart: true,
	Needs: []lab.Tool{lab.IP, lab.Unshare, threadserver.Compiler},
	Want: lab.Want{
		Suspect: "slow-dependency",
		Subject: `10\.78\.7\.2:53`,
	},
	Distractor: "the name servers answer at once, and the handler itself takes as long",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	api, dns := s.Netns("api"), s.Netns("dns")
	s.Veth(lab.End{Netns: api, Device: "eth0", Addr: "10.78.7.1/24"}, lab.End{Netns: dns, Device: "eth0", Addr: "10.78.7.2/24"})
	s.Command(dns, "ip", "addr", "add", "10.78.7.3/24", "dev", "eth0")
	first := []string{"--listen", "10.78.7.2:53"}
	if v == lab.Sick {
		first = append(first, "--silent")
	}
	s.AwaitPrinted(s.Actor(dns, "named1", "name-server", first), "ready")
	s.AwaitPrinted(s.Actor(dns, "named2", "name-server", []string{"--listen", "10.78.7.3:53"}), "ready")
	// Severe is glibc's own timeout, 5 s.
	timeout := lab.At(s, 1, 2, 5)
	nap := 0
	if v == lab.Distractor {
		nap = 1000 * timeout
	}
	conf := fmt.Sprintf("nameserver 10.78.7.2\nnameserver 10.78.7.3\noptions timeout:%d\n", timeout)
	threadserver.StartResolving(s, api, conf, 8080, 16, "names", fmt.Sprint(nap))
	client := s.Actor(api, "client", "rr-client", []string{"--to", "127.0.0.1:8080", "--conns", "8", "--every", "100ms"})
	s.AwaitPrinted(client, "answers")
	s.Pause(time.Second)
	return s.Err()
}

// Package wronglibrary makes a server that runs another build of its codec than
// in the recording of the good time: one without the fast path.
package wronglibrary

import (
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/actor"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "wrong-library",
	Title: "a server runs a slower build of its codec library than in the baseline",
	Long:  true,
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect: "wrong-library",
		Subject: `codec-server`,
	},
	Distractor: "another build as well, an update that changed nothing in what a request costs",
	// It is another build than where it is good: a risk, and no more.
	DistractorWant: lab.Want{Said: "wrong-library"},
	Start:          start,
}

// Good is the cost of a request with the build of the baseline.
const Good = 4 * time.Millisecond

func start(s *lab.Stage, v lab.Variant) error {
	srv, cli := s.Netns("server"), s.Netns("client")
	s.Veth(lab.End{Netns: srv, Device: "eth0", Addr: "10.77.14.1/24"}, lab.End{Netns: cli, Device: "eth0", Addr: "10.77.14.2/24"})
	good, other := filepath.Join(s.Dir(), "good"), filepath.Join(s.Dir(), "other")
	s.Command("", "mkdir", "-p", good, other)
	if err := s.Err(); err != nil {
		return err
	}
	lib := filepath.Join(good, "libcodec.so.1")
	if err := actor.WriteCodecLibrary(lib, "1.0 avx2", Good); err != nil {
		return err
	}
	server, client := serve(s, srv, cli, lib)
	s.Baseline(6 * time.Second)
	s.Stop(client)
	s.Stop(server)
	switch v {
	case lab.Sick:
		lib = filepath.Join(other, "libcodec.so.1")
		slow := lab.At(s, 5*Good/2, 4*Good, 5*Good) // a user feels 5 ms more
		if err := actor.WriteCodecLibrary(lib, "1.0 generic", slow); err != nil {
			return err
		}
	case lab.Distractor:
		lib = filepath.Join(other, "libcodec.so.1")
		if err := actor.WriteCodecLibrary(lib, "1.1 avx2", Good); err != nil {
			return err
		}
	}
	serve(s, srv, cli, lib)
	return s.Err()
}

// serve starts the server with a library, and its clients: 40 requests per second.
func serve(s *lab.Stage, srv, cli, lib string) (server, client *lab.Process) {
	server = s.Actor(srv, "codec-server", "rr-server", []string{"--listen", "10.77.14.1:9000", "--library", lib})
	s.AwaitPrinted(server, "ready")
	client = s.Actor(cli, "codec-client", "rr-client", []string{"--to", "10.77.14.1:9000", "--conns", "4", "--every", "100ms"})
	s.AwaitPrinted(client, "answers")
	return server, client
}

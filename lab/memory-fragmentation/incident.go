// Package memoryfragmentation makes a server whose huge pages have to be put
// together out of memory in pieces.
package memoryfragmentation

import (
	"fmt"
	"strings"
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "memory-fragmentation",
	Title: "a cache has left every other page of most memory free; a server's requests want huge pages",
	Long:  true,
	VM:    &lab.VM{Memory: 1024},
	Needs: []lab.Tool{lab.IP},
	Want: lab.Want{
		Suspect:  "memory-fragmentation",
		Subject:  `zone`,
		Symptoms: []string{"request-latency"},
	},
	Distractor: "as much memory is held in one piece, so that little is free; the server's requests want small pages",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	c, srv := s.Netns("client"), s.Netns("server")
	s.Veth(lab.End{Netns: c, Device: "eth0", Addr: "10.77.26.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.77.26.2/24"})
	// Locked pages are not moved, as on a host that is tuned for its latency.
	s.Sysctl("/proc/sys/vm/compact_unevictable_allowed", "0")
	s.Sysctl("/sys/kernel/mm/transparent_hugepage/enabled", "always")
	s.Sysctl("/sys/kernel/mm/transparent_hugepage/defrag", "always")
	args := []string{"--listen", "10.77.26.2:8081"}
	// Emulated, a huge page that can't be had takes 3 ms, and one that is there half of
	// that to be cleared: the four requests that come together wait for each other.
	pages := fmt.Sprint(lab.At(s, 24, 48, 96))
	switch v {
	case lab.Sick:
		filled(s, s.Actor("", "object-cache", "memory-hog", []string{"--mib", "2000", "--leave", "110", "--holes"}))
		args = append(args, "--fresh", pages)
	case lab.Healthy:
		args = append(args, "--fresh", pages)
	case lab.Distractor:
		filled(s, s.Actor("", "object-cache", "memory-hog", []string{"--mib", "2000", "--leave", "250"}))
		args = append(args, "--heap", "32", "--pages", "100")
	}
	server := s.Actor(srv, "api-server", "loop-server", args, lab.In(s.Cgroup("api", 0)))
	s.AwaitPrinted(server, "ready")
	client := s.Actor(c, "api-client", "rr-client", []string{"--to", "10.77.26.2:8081", "--conns", "4", "--every", "400ms"})
	s.AwaitPrinted(client, "answers")
	s.Pause(2 * time.Second)
	return s.Err()
}

// filled waits until a process has taken its memory: page by page, under emulation.
func filled(s *lab.Stage, hog *lab.Process) {
	s.Await(hog.Name+" to take its memory", 2*time.Minute, func() (bool, error) {
		return strings.Contains(hog.Printed(), "ready"), nil
	})
}

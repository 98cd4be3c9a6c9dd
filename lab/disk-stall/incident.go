// Package diskstall makes a server that writes a journal to a disk which a backup
// keeps busy.
package diskstall

import (
	"path/filepath"
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "disk-stall",
	Title: "a backup fills the queue of the disk to which a server syncs each request",
	Long:  true,
	Needs: []lab.Tool{lab.IP, lab.Losetup, lab.Mkfs},
	Want: lab.Want{
		Suspect:  "disk-stall",
		Subject:  `loop[0-9]+`,
		Symptoms: []string{"request-latency"},
	},
	Distractor: "the backup fills the queue of another disk; the server's has nothing to do",
	Start:      start,
}

func start(s *lab.Stage, v lab.Variant) error {
	c, srv := s.Netns("client"), s.Netns("server")
	s.Veth(lab.End{Netns: c, Device: "eth0", Addr: "10.77.23.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.77.23.2/24"})
	own, other := s.Volume("data", 128), s.Volume("archive", 128)
	// What is below both is a slow disk: so much is written a second and no more.
	rate := lab.At(s, 3<<20, 2<<20, 1<<19)
	slow := s.SlowDisk("slow", rate)
	server := s.Actor(srv, "ledger-server", "loop-server",
		[]string{"--listen", "10.77.23.2:8081", "--journal", filepath.Join(own.Mount, "journal")}, lab.In(slow))
	s.AwaitPrinted(server, "ready")
	// 5 requests per second on 4 connections: the disk alone is not in a hurry.
	client := s.Actor(c, "ledger-client", "rr-client", []string{"--to", "10.77.23.2:8081", "--conns", "4", "--every", "800ms"})
	s.AwaitPrinted(client, "answers")
	if v != lab.Healthy {
		at := own
		if v == lab.Distractor {
			at, slow = other, s.SlowDisk("slow-too", rate)
		}
		backup := s.Actor("", "nightly-backup", "disk-writer", []string{"--file", filepath.Join(at.Mount, "backup"), "--chunk", "512"}, lab.In(slow))
		s.AwaitPrinted(backup, "written")
		s.Pause(2 * time.Second)
	}
	return s.Err()
}

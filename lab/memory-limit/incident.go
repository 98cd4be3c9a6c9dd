// Package memorylimit makes a service whose control group may hold less memory than it grows
// to: the kernel kills it, and it is started again.
package memorylimit

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"snag/lab"
)

// Incident is the cause of that name.
var Incident = lab.Incident{
	Name:  "memory-limit",
	Title: "a service grows with its requests until the kernel kills it for its control group's limit, again and again",
	Needs: []lab.Tool{lab.IP, {Command: "dd", Package: "coreutils"}},
	Want: lab.Want{
		Suspect:  "memory-limit",
		Subject:  `-little`,
		Symptoms: []string{"connection-errors|request-latency|failed-answers"},
	},
	Distractor: "a service that does not grow; a backup in its group reads files, and what it has read fills the limit",
	Start:      start,
}

const (
	at    = "10.77.33.2:8081"
	limit = 64 // MiB
)

func start(s *lab.Stage, v lab.Variant) error {
	c, srv := s.Netns("client"), s.Netns("server")
	s.Veth(lab.End{Netns: c, Device: "eth0", Addr: "10.77.33.1/24"}, lab.End{Netns: srv, Device: "eth0", Addr: "10.77.33.2/24"})
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the running binary: %w", err)
	}
	group := s.LittleMemory("little", limit)
	args := []string{"--away", "100ms", "--", self, lab.ActorCommand, "loop-server", "--comm", "price-server", "--listen", at, "--grow"}
	if v == lab.Sick {
		args = append(args, lab.At(s, "100", "300", "1000"))
	} else {
		args = append(args, "0")
	}
	server := s.Actor(srv, "price-service", "supervisor", args, lab.In(group))
	s.AwaitPrinted(server, "ready")
	if v == lab.Distractor {
		file := filepath.Join(s.Dir(), "archive")
		// Whoever has a file read first is charged for its cache: so it is written there, too.
		s.Run("", "nightly-backup", []string{"sh", "-c", `dd if=/dev/zero of="$0" bs=1M count=200 conv=fsync 2>/dev/null; while :; do dd if="$0" of=/dev/null bs=64k 2>/dev/null; echo read; sleep 0.2; done`, file}, lab.In(group))
		s.AwaitPrinted(s.ProcessOf("nightly-backup"), "read")
	}
	s.AwaitPrinted(s.Actor(c, "shop", "service-client", []string{"--to", at, "--conns", "4", "--every", "40ms", "--timeout", "1s"}), "ready")
	if v == lab.Sick {
		s.AwaitPrinted(server, "it ended: signal: killed")
	}
	s.Pause(2 * time.Second)
	return s.Err()
}

package main

import (
	"fmt"
	"path/filepath"
	"runtime"

	"snag/lab"
)

// incident is a service that is well, and a fault that befalls it. The service is in the
// namespace of the recorders, and its clients are on the other side of eth0.
type incident struct {
	name, title string
	needs       []lab.Tool
	// well starts the service and returns what breaks it.
	well func(s *lab.Stage, clients, self string) (fault func())
}

// incidents: each is of another kind. Disk, memory and CPU are what the peers were made for.
var incidents = []incident{stopped, overflow, throttled, stalled, killed, saturated, delayed, full, spun, upstream}

var stopped = incident{
	name: "stopped", title: "a script stops a relay of a stream (SIGSTOP)",
	well: func(s *lab.Stage, clients, self string) func() {
		sink := s.Actor(clients, "media-player", "tcp-sink", []string{"--listen", outside + ":9001"})
		s.AwaitPrinted(sink, "ready")
		relay := s.Actor("", "media-relay", "tcp-relay", []string{"--listen", inside + ":9000", "--to", outside + ":9001"})
		s.AwaitPrinted(relay, "ready")
		s.Actor(clients, "media-encoder", "tcp-source", []string{"--to", inside + ":9000", "--rate", "500000"})
		return func() {
			s.Actor("", "backup-script", "stopper", []string{"--pid", fmt.Sprint(relay.PID), "--stop", "30s", "--run", "1s"})
		}
	},
}

var overflow = incident{
	name: "accept queue", title: "a release of a server listens with a backlog of 5, and clients come in bursts of 20",
	well: func(s *lab.Stage, clients, self string) func() {
		serve := func(backlog string) *lab.Process {
			p := s.Actor("", "playlist-srv", "slow-acceptor", []string{"--listen", inside + ":8080", "--backlog", backlog, "--work", "20ms"})
			s.AwaitPrinted(p, "ready")
			return p
		}
		server := serve("128")
		s.Actor(clients, "playlist-cli", "caller", []string{"--to", inside + ":8080", "--rate", "40", "--burst", "20", "--clients", "200", "--timeout", "30s"})
		return func() {
			s.Stop(server)
			serve("5")
		}
	},
}

var throttled = incident{
	name: "CPU quota", title: "a server needs 32 % of a CPU, and its control group is given 20 %",
	well: func(s *lab.Stage, clients, self string) func() {
		web := s.Cgroup("web", 0)
		server := s.Actor("", "api-server", "loop-server", []string{"--listen", inside + ":8081", "--spin", "4ms"}, lab.In(web))
		s.AwaitPrinted(server, "ready")
		s.Actor(clients, "api-client", "rr-client", []string{"--to", inside + ":8081", "--conns", "8", "--every", "100ms"})
		return func() {
			if err := web.Limit(0.2); err != nil {
				s.Fail("the quota", err)
			}
		}
	},
}

var stalled = incident{
	name: "disk", title: "a backup fills the queue of the disk to which a server syncs each request",
	needs: []lab.Tool{lab.Losetup, lab.Mkfs},
	well: func(s *lab.Stage, clients, self string) func() {
		own := s.Volume("data", 128)
		slow := s.SlowDisk("slow", 2<<20)
		server := s.Actor("", "ledger-server", "loop-server", []string{"--listen", inside + ":8082", "--journal", filepath.Join(own.Mount, "journal")}, lab.In(slow))
		s.AwaitPrinted(server, "ready")
		s.Actor(clients, "ledger-client", "rr-client", []string{"--to", inside + ":8082", "--conns", "4", "--every", "800ms"})
		return func() {
			s.Actor("", "nightly-backup", "disk-writer", []string{"--file", filepath.Join(own.Mount, "backup"), "--chunk", "512"}, lab.In(slow))
		}
	},
}

// limit of the group of the service, MiB.
const memoryLimit = 64

var killed = incident{
	name: "memory limit", title: "a release of a service grows until the kernel kills it for its control group's limit, again and again",
	well: func(s *lab.Stage, clients, self string) func() {
		group := s.LittleMemory("little", memoryLimit)
		serve := func(grow string) *lab.Process {
			p := s.Actor("", "price-service", "supervisor", []string{"--away", "100ms", "--", self, lab.ActorCommand, "loop-server", "--comm", "price-server", "--listen", inside + ":8084", "--grow", grow}, lab.In(group))
			s.AwaitPrinted(p, "ready")
			return p
		}
		server := serve("0")
		s.Actor(clients, "shop", "service-client", []string{"--to", inside + ":8084", "--conns", "4", "--every", "40ms", "--timeout", "1s"})
		return func() {
			s.Stop(server)
			serve("300")
		}
	},
}

var saturated = incident{
	name: "CPU", title: "a batch job of 8 threads for each CPU runs beside a server that needs a third of one",
	well: func(s *lab.Stage, clients, self string) func() {
		server := s.Actor("", "api-server", "loop-server", []string{"--listen", inside + ":8083", "--spin", "4ms"})
		s.AwaitPrinted(server, "ready")
		s.Actor(clients, "api-client", "rr-client", []string{"--to", inside + ":8083", "--conns", "8", "--every", "100ms"}, lab.Nice(-10))
		return func() {
			s.Actor("", "report-batch", "burner", []string{"--threads", fmt.Sprint(8 * runtime.NumCPU())})
		}
	},
}

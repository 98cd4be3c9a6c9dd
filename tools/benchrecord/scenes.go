package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"snag/lab"
)

// incident is a service that is well, and a fault that befalls it. The service is in the
// namespace of the recorders, and its clients are on the other side of eth0.
type incident struct {
	name, title string
	guilty      string // in words
	needs       []lab.Tool
	// well starts the service and returns what breaks it.
	well func(s *lab.Stage, w world) (fault func())
	expect
}

// incidents: each is of another kind. Disk, memory and CPU are what the peers were made for.
var incidents = []incident{stopped, overflow, throttled, stalled, killed, saturated}

var stopped = incident{
	name: "stopped", title: "a script stops a relay of a stream (SIGSTOP)", guilty: "media-relay, stopped by backup-script",
	well: func(s *lab.Stage, w world) func() {
		sink := s.Actor(w.clients, "media-player", "tcp-sink", []string{"--listen", outside + ":9001"})
		s.AwaitPrinted(sink, "ready")
		relay := s.Actor("", "media-relay", "tcp-relay", []string{"--listen", inside + ":9000", "--to", outside + ":9001"})
		s.AwaitPrinted(relay, "ready")
		s.Actor(w.clients, "media-encoder", "tcp-source", []string{"--to", inside + ":9000", "--rate", "500000"})
		return func() {
			s.Actor("", "backup-script", "stopper", []string{"--pid", fmt.Sprint(relay.PID), "--stop", "30s", "--run", "1s"})
		}
	},
	expect: expect{
		symptom: []rule{{name: pattern{`eth0|system\.ip|Ip(Ext)?In`, `bytes|octets|kb/s|received`}, fall: true}, {name: pattern{`media-relay`, `state (T|stopped)`}}},
		parties: pattern{`media-|:900[01]`},
		guilty:  []rule{{name: pattern{`media-relay|backup-script`, `state (T|stopped)`}}},
		who:     pattern{`media-relay|backup-script`}, cause: pattern{`stopped|SIGSTOP`},
	},
}

var overflow = incident{
	name: "accept queue", title: "a release of a server listens with a backlog of 5, and clients come in bursts of 20", guilty: "the listener playlist-srv at :8080",
	well: func(s *lab.Stage, w world) func() {
		serve := func(backlog string) *lab.Process {
			p := s.Actor("", "playlist-srv", "slow-acceptor", []string{"--listen", inside + ":8080", "--backlog", backlog, "--work", "20ms"})
			s.AwaitPrinted(p, "ready")
			return p
		}
		server := serve("128")
		s.Actor(w.clients, "playlist-cli", "caller", []string{"--to", inside + ":8080", "--rate", "40", "--burst", "20", "--clients", "200", "--timeout", "30s"})
		return func() {
			s.Stop(server)
			serve("5")
		}
	},
	expect: expect{
		symptom: []rule{{name: pattern{`listen|overflow|retrans|ReqQFull`}}},
		parties: pattern{`playlist-|:8080`},
		guilty:  []rule{{name: pattern{`playlist-srv|:8080`, `queue|backlog|listen|overflow`}}},
		who:     pattern{`playlist-srv|:8080`}, cause: pattern{`listen|accept`, `queue|overflow|backlog`},
	},
}

var throttled = incident{
	name: "CPU quota", title: "a server needs 32 % of a CPU, and its control group is given 20 %", guilty: "the control group of api-server",
	well: func(s *lab.Stage, w world) func() {
		web := s.Cgroup("web", 0)
		server := s.Actor("", "api-server", "loop-server", []string{"--listen", inside + ":8081", "--spin", "4ms"}, lab.In(web))
		s.AwaitPrinted(server, "ready")
		s.Actor(w.clients, "api-client", "rr-client", []string{"--to", inside + ":8081", "--conns", "8", "--every", "100ms"})
		return func() {
			if err := web.Limit(0.2); err != nil {
				s.Fail("the quota", err)
			}
		}
	},
	expect: expect{
		symptom: []rule{{name: pattern{`throttl`}}, {name: pattern{`cpu`, `pressure|some|waiting`}}},
		parties: pattern{`api-|:8081`},
		guilty:  []rule{{name: pattern{`api-server|web`, `throttl`}}},
		who:     pattern{`api-server|-web`}, cause: pattern{`throttl|quota`},
	},
}

var stalled = incident{
	name: "disk", title: "a backup fills the queue of the disk to which a server syncs each request", guilty: "nightly-backup, which writes",
	needs: []lab.Tool{lab.Losetup, lab.Mkfs},
	well: func(s *lab.Stage, w world) func() {
		own := s.Volume("data", 128)
		slow := s.SlowDisk("slow", 2<<20)
		server := s.Actor("", "ledger-server", "loop-server", []string{"--listen", inside + ":8082", "--journal", filepath.Join(own.Mount, "journal")}, lab.In(slow))
		s.AwaitPrinted(server, "ready")
		s.Actor(w.clients, "ledger-client", "rr-client", []string{"--to", inside + ":8082", "--conns", "4", "--every", "800ms"})
		return func() {
			s.Actor("", "nightly-backup", "disk-writer", []string{"--file", filepath.Join(own.Mount, "backup"), "--chunk", "512"}, lab.In(slow))
		}
	},
	expect: expect{
		symptom: []rule{{name: pattern{`loop|vda|sda|nvme`, `await|util|aqu|qops|queue|busy|backlog|io_time|time spend`}}, {name: pattern{`\bi/?o\b|[sf]io|io[_ ]`, `pressure|some|full|waiting|stalled|%`}}},
		parties: pattern{`ledger-|:8082`},
		guilty:  []rule{{name: pattern{`^process nightly-backup (writes|sectors written)$`}, among: pattern{`^process .* (writes|sectors written)$`}}},
		who:     pattern{`nightly-backup|loop\d`}, cause: pattern{`disk-stall|disk_(backlog|util)|iowait|(disk|I/O).*(busy|queue|stall|pressure)`},
	},
}

// limit of the group of the service, MiB.
const memoryLimit = 64

var killed = incident{
	name: "memory limit", title: "a release of a service grows until the kernel kills it for its control group's limit, again and again", guilty: "price-server, or its control group",
	well: func(s *lab.Stage, w world) func() {
		group := s.LittleMemory("little", memoryLimit)
		serve := func(grow string) *lab.Process {
			p := s.Actor("", "price-service", "supervisor", []string{"--away", "100ms", "--", w.actors, lab.ActorCommand, "loop-server", "--comm", "price-server", "--listen", inside + ":8084", "--grow", grow}, lab.In(group))
			s.AwaitPrinted(p, "ready")
			return p
		}
		server := serve("0")
		s.Actor(w.clients, "shop", "service-client", []string{"--to", inside + ":8084", "--conns", "4", "--every", "40ms", "--timeout", "1s"})
		return func() {
			s.Stop(server)
			serve("300")
		}
	},
	expect: expect{
		symptom: []rule{{name: pattern{`oom`}}},
		parties: pattern{`price-|shop|:8084`},
		guilty:  []rule{{name: pattern{`process price-server|little`, `rss|mem`}}},
		who:     pattern{`price-|little`}, cause: pattern{`oom|out of memory|memory limit|memory-limit`},
	},
}

var saturated = incident{
	name: "CPU", title: "a batch job of 8 threads for each CPU runs beside a server that needs a third of one", guilty: "report-batch, which computes",
	well: func(s *lab.Stage, w world) func() {
		server := s.Actor("", "api-server", "loop-server", []string{"--listen", inside + ":8083", "--spin", "4ms"})
		s.AwaitPrinted(server, "ready")
		s.Actor(w.clients, "api-client", "rr-client", []string{"--to", inside + ":8083", "--conns", "8", "--every", "100ms"}, lab.Nice(-10))
		return func() {
			s.Actor("", "report-batch", "burner", []string{"--threads", fmt.Sprint(8 * runtime.NumCPU())})
		}
	},
	expect: expect{
		symptom: []rule{{name: pattern{`cpu`, `pressure|some|waiting`}}, {name: pattern{`load|running|runq|%scpu`}}, {name: pattern{`idle`}, fall: true}},
		parties: pattern{`api-|:8083`},
		guilty:  []rule{{name: pattern{`^process report-batch (cpu|cpu samples)$`}, among: pattern{`^process .* (cpu|cpu samples)$`}}},
		who:     pattern{`report-batch`}, cause: pattern{`cpu-saturated|run-queue|cpu_usage|load_average|cpu.*(saturat|busy|pressure)`},
	},
}

// healthyFor is how long a service runs well before its fault.
const healthyFor = 25 * time.Second

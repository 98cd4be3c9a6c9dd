package recording

import (
	"slices"
	"strings"
)

// State of a measure. "Not measured" is a state of its own: a measure without a
// Coverage row was not measured, and nothing may be cleared by its silence.
const (
	CoverageOK          = "ok"          // measured for the whole window
	CoveragePartial     = "partial"     // measured, with losses or gaps: see Lost, Late, Why
	CoverageUnavailable = "unavailable" // this host, kernel or user does not allow it: see Why and Cure
	CoverageFailed      = "failed"      // it should have worked and did not
	CoverageOff         = "off"         // not asked for
)

// Coverage says what one measure of a probe saw, what it lost, how late it ran
// and what it cost, or why it could not run. Probe is "drops" for a whole probe
// or "drops.socket" for one of its measures; the measures are listed in Measures.
type Coverage struct {
	Probe string `json:"probe"`
	State string `json:"state"`
	Since Time   `json:"since,omitempty"`
	// Until is when it ended, where that is before the recording does: of a file that is
	// of a part of the time only (snag read); 0: at the recording's end.
	Until Time    `json:"until,omitempty"`
	Lost  uint64  `json:"lost"`             // events the kernel side could not hand over or count
	Late  float64 `json:"late_seconds"`     // the latest that any of its ticks ran
	Cost  float64 `json:"cost_cpu_seconds"` // user + system time of its user-space part
	// Share of the time since Since in which it was measured, 0 to 1, where that was done
	// in slices of it, as all of the time would have cost too much; 0: all of it. What
	// it counted is of that share and is not made more of; what lasts longer than a slice
	// was not seen to end, and nothing may be cleared by its silence.
	Share float64 `json:"share,omitempty"`
	Why   string  `json:"why,omitempty"`  // for every state but ok
	Cure  string  `json:"cure,omitempty"` // what would make it work: a capability (as CAP_…), a kernel, a command
}

// Withheld reports that the measure ran, but that what it saw is only what this
// user, or this container, may see, or what its limits let it hold open: its cure names a
// capability, the host's PIDs or control groups, a profile of AppArmor or the limit of open
// files. Nothing of the rest may be cleared by its silence.
func (c Coverage) Withheld() bool {
	names := func(part string) bool { return strings.Contains(c.Cure, part) }
	return c.State == CoveragePartial && slices.ContainsFunc([]string{"CAP_", "hostPID", "cgroupns", "apparmor=", "ulimit -n"}, names)
}

// InSlices reports that the measure was taken in slices of the time.
func (c Coverage) InSlices() bool { return c.Share > 0 && c.Share < 1 }

// ShareOf is the share of the time in which a measure was taken: 1 where it was not
// taken in slices. Counts over the window divided by it are what the whole window had,
// as far as the slices tell.
func (r *Recording) ShareOf(measure string) float64 {
	if c, ok := r.Measured(measure); ok && c.InSlices() {
		return c.Share
	}
	return 1
}

// Measures are the names that probes report on and suspects need. A probe's own
// row stands for every measure of it that has no row.
var Measures = []string{
	"host.netstat", "host.softnet", "host.sockstat", "host.qdisc", "host.cgroup",
	"host.cpu", "host.pressure", "host.processes", "host.sysctl", "host.links",
	"host.memory", "host.zones", "host.numa", "host.disks", "host.kernel-log",
	"host.libraries",
	"drops.kfree_skb", "drops.reason", "drops.socket", "drops.stacks",
	"sockets.diag", "sockets.owner", "sockets.options", "sockets.connections",
	"sockets.resets", "sockets.retransmits", "sockets.holds", "sockets.signals",
	"sockets.turns", "sockets.errors", "sockets.queries", "sockets.ports", "sockets.half-open",
	"sockets.unix", "sockets.dns",
	"oncpu.kernel", "oncpu.stacks", "oncpu.symbols", "oncpu.loops",
	"offcpu.waits", "offcpu.stacks", "locks.futex", "locks.owner",
	"memory.reclaim", "memory.compaction", "cgroup.throttled",
	"threads.state", "threads.syscall", "threads.sched", "states", "ends",
	"syscalls.calls", "syscalls.io_uring", "syscalls.fds", "syscalls.peek",
	"routes.table", "routes.neighbours", "routes.rules", "routes.conntrack",
	"jvm.counters", "logs.files",
	"jvm.safepoints", "runtimes.go-locks", "runtimes.go-stops", "runtimes.others",
	"jvm.gc-log",
	"pcap.flows", "pcap.handshakes", "pcap.udp",
	"streams.figures", "streams.passive", "streams.layers", "streams.files", "streams.ingest",
	"sides.requests",
	"log.lines", "log.requests", "log.connections", "log.errors",
	"nics.settings", "nics.statistics", "nics.queues", "nics.interrupts", "nics.softirqs",
}

// OfFiles reports whether a measure is of files that others recorded, and never of a
// live host.
func OfFiles(measure string) bool {
	return strings.HasPrefix(measure, "pcap.") || strings.HasPrefix(measure, "sides.") || strings.HasPrefix(measure, "log.")
}

// Trace is the coverage of a recording that was made of a trace of all calls of some
// processes (snag read of what strace wrote): no probe measures it.
const Trace = "trace"

// Compared is the need of a recording to compare with (Recording.Baseline): no
// probe measures it.
const Compared = "baseline"

func (r *Recording) compared() (Coverage, bool) {
	if r.Baseline != nil {
		return Coverage{Probe: Compared, State: CoverageOK}, true
	}
	return Coverage{Probe: Compared, State: CoverageOff, Why: "no recording of a good time or host was given to compare with",
		Cure: "snag find --out GOOD where it is good, then snag judge --baseline GOOD DIR"}, false
}

// closerLook reports whether a measure is of the probes that a find asks only where
// the cheap ones left a question, and that write no coverage where there was none.
func closerLook(measure string) bool {
	for _, probe := range []string{"syscalls.", "offcpu.", "locks.", "runtimes."} {
		if strings.HasPrefix(measure, probe) {
			return true
		}
	}
	return false
}

// Measured finds the coverage of a measure: its own row, else its probe's. The
// bool reports whether its silence means anything (state ok or partial).
func (r *Recording) Measured(measure string) (Coverage, bool) {
	if r == nil {
		return Coverage{Probe: measure, State: CoverageUnavailable, Why: "no recording"}, false
	}
	if measure == Compared {
		return r.compared()
	}
	found := -1
	for i, c := range r.Coverage {
		if c.Probe == measure {
			found = i
			break
		}
		if probe, _, ok := strings.Cut(measure, "."); ok && c.Probe == probe {
			found = i
		}
	}
	if found < 0 && closerLook(measure) {
		return Coverage{Probe: measure, State: CoverageOff, Why: "no process was looked at closer"}, false
	}
	if found < 0 && len(r.Manifest.Files) > 0 {
		return Coverage{Probe: measure, State: CoverageUnavailable, Why: NotInFiles}, false
	}
	if found < 0 {
		return Coverage{Probe: measure, State: CoverageUnavailable, Why: "this recording has no coverage of it"}, false
	}
	c := r.Coverage[found]
	return c, c.State == CoverageOK || c.State == CoveragePartial
}

// NotInFiles is why what files of a kind never tell was not measured.
const NotInFiles = "these files do not show it"

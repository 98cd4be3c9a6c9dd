package recording

// feeds names, for the samples and each table, the measures that are nothing
// without it: what a measure says of itself in the coverage is of no use when
// its rows are lost. Every measure is named once at least (a test sees to it).
var feeds = map[string][]string{
	"samples": {
		"host.netstat", "host.softnet", "host.sockstat", "host.qdisc", "host.cgroup",
		"host.cpu", "host.pressure", "host.links", "routes.conntrack",
		"jvm.counters", "streams.figures",
		"host.memory", "host.zones", "host.numa", "host.disks",
		"nics.statistics", "nics.interrupts", "nics.softirqs", "runtimes.others",
	},
	"calls":         {"syscalls.calls", "syscalls.io_uring", Trace},
	"fds":           {"syscalls.fds", "syscalls.peek"},
	"processes":     {"host.processes"},
	"exits":         {"ends"},
	"threads":       {"threads.state", "threads.syscall", "threads.sched"},
	"thread_states": {"states"},
	"sockets":       {"sockets.diag", "sockets.owner", "sockets.options", "sockets.unix"},
	"drops":         {"drops.kfree_skb", "drops.reason", "drops.socket"},
	"stacks":        {"drops.stacks", "oncpu.symbols", "offcpu.stacks"},
	"connections":   {"sockets.connections", "log.connections"},
	"resets":        {"sockets.resets"},
	"retransmits":   {"sockets.retransmits"},
	"holds":         {"sockets.holds"},
	"turns":         {"sockets.turns", "sockets.dns", "log.requests"},
	"errors":        {"sockets.errors", "log.errors"},
	"queries":       {"sockets.queries"},
	"routes":        {"routes.table"},
	"neighbours":    {"routes.neighbours"},
	"rules":         {"routes.rules"},
	"log_files":     {"logs.files"},
	"flows":         {"pcap.flows", "pcap.udp"},
	"segments":      {"pcap.flows"},
	"handshakes":    {"pcap.handshakes"},
	"ports":         {"sockets.ports"},
	"libraries":     {"host.libraries"},
	"profile":       {"oncpu.kernel"},
	"half_open":     {"sockets.half-open"},
	"nics":          {"nics.settings"},
	"queues":        {"nics.queues"},
	"facts":         {"host.sysctl"},
	"streams":       {"streams.passive", "streams.ingest"},
	"stream_hops":   {"streams.layers"},
	"events":        {"sockets.signals", "host.kernel-log", "memory.reclaim", "memory.compaction", "cgroup.throttled", "jvm.safepoints", "jvm.gc-log", "runtimes.go-stops", "log.lines"},

	"stream_files": {"streams.files"},

	"requests":        {"sides.requests"},
	"request_seconds": {"sides.requests"},

	"loads":        {MeasureLoad},
	"load_seconds": {MeasureLoad},
	"experiments":  {MeasureEliminate},

	"oncpu":      {"oncpu.stacks"},
	"loops":      {"oncpu.loops"},
	"offcpu":     {"offcpu.waits"},
	"lock_waits": {"locks.futex", "locks.owner", "runtimes.go-locks"},
}

// losses are coverage rows of measures whose rows did not survive.
type losses []Coverage

// add notes that a table, or the samples, are gone: nothing may be cleared by
// their silence.
func (l *losses) add(table, why string) {
	for _, m := range feeds[table] {
		*l = append(*l, Coverage{
			Probe: m, State: CoverageFailed, Why: "what it measured is lost: " + why,
			Cure: "judge a whole copy of the recording, or record again",
		})
	}
}

// apply puts what was lost over what the probes said of themselves, once the
// coverage is read. What was not measured anyway keeps its own reason.
func (l losses) apply(r *Recording) {
	for _, c := range l {
		was, measured := r.Measured(c.Probe)
		if measured {
			c.Since, c.Lost, c.Late, c.Cost = was.Since, was.Lost, was.Late, was.Cost
			r.Add(c)
		}
	}
}

// LeftOut notes that n rows of a table were left out for want of space: the measures that they are of lost them.
func (r *Recording) LeftOut(table string, n uint64, why string) {
	for _, m := range feeds[table] {
		was, measured := r.Measured(m)
		if !measured {
			continue
		}
		was.Probe, was.Lost = m, was.Lost+n
		if was.State == CoverageOK {
			was.State, was.Why = CoveragePartial, why
		}
		r.Add(was)
	}
}

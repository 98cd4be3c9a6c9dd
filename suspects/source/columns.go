package source

import "snag/recording"

// Column is how a column of a table is drawn over time.
type Column struct {
	Title, Unit string
	Running     bool // a running total: drawn as its growth per second
	Bad         bool // growth of it hurts
}

// Columns are those that evidence may be read from, by table.column.
var Columns = map[string]Column{
	"sockets.recv_q":         {"receive queue", "bytes", false, false},
	"sockets.send_q":         {"send queue", "bytes", false, false},
	"sockets.drops":          {"drops at the socket", "/s", true, true},
	"sockets.rmem":           {"receive memory in use", "bytes", false, false},
	"sockets.rtt":            {"round-trip time", "s", false, false},
	"sockets.min_rtt":        {"least round-trip time", "s", false, false},
	"sockets.cwnd":           {"congestion window", "segments", false, false},
	"sockets.snd_wnd":        {"the peer's window", "bytes", false, false},
	"sockets.backoff":        {"retransmit timer backed off", "times", false, true},
	"sockets.notsent_bytes":  {"written and not yet sent", "bytes", false, false},
	"sockets.bytes_sent":     {"sent", "bytes/s", true, false},
	"sockets.bytes_acked":    {"acknowledged", "bytes/s", true, false},
	"sockets.bytes_received": {"received", "bytes/s", true, false},
	"sockets.segs_in":        {"segments received", "/s", true, false},
	"sockets.data_segs_in":   {"segments with data received", "/s", true, false},
	"sockets.data_segs_out":  {"segments with data sent", "/s", true, false},
	"sockets.rcv_ooopack":    {"received out of order", "/s", true, true},
	"sockets.dsack_dups":     {"sent again without need", "/s", true, true},
	"sockets.last_rcv":       {"since data came", "s", false, false},
	"sockets.last_snd":       {"since data was sent", "s", false, false},
	"sockets.last_ack":       {"since an acknowledgement came", "s", false, false},
	"sockets.total_retrans":  {"retransmitted", "/s", true, true},
	"sockets.rwnd_limited":   {"held by the peer's window", "ratio", true, true},
	"sockets.sndbuf_limited": {"held by the send buffer", "ratio", true, true},
	"drops.n":                {"packets dropped", "/s", false, true},
	"retransmits.n":          {"segments retransmitted", "/s", false, true},
	"resets.n":               {"resets", "/s", false, true},
	"holds.held":             {"writes delayed by Nagle's algorithm", "/s", false, true},
	"holds.hold_max":         {"longest delay of a write", "s", false, true},
	"connections.opened":     {"connections opened", "/s", false, false},
	"connections.closed":     {"connections closed", "/s", false, false},
	"connections.failed":     {"connections failed", "/s", false, true},
	"connections.short":      {"connections that lived under 1 s", "/s", false, true},
	"turns.n":                {"requests answered", "/s", false, false},
	"turns.mean":             {"time to answer, mean", "s", false, true},
	"turns.max":              {"time to answer, longest", "s", false, true},
	"turns.failed":           {"answers that are errors", "/s", false, true},
	"queries.asked":          {"names asked for", "/s", false, false},
	"queries.gave_up":        {"names given up", "/s", false, true},
	"errors.n":               {"calls that returned an error", "/s", false, true},
	"events.n":               {"events", "/s", false, true},
	"events.seconds":         {"time in it", "ratio", false, true},
	"thread_states.n":        {"what its threads were found at", "threads", false, false},
	"offcpu.sum":             {"off the CPU, by what it waited for", "threads", false, true},
	"lock_waits.sum":         {"waiting for a lock", "threads", false, true},
	"threads.run_delay":      {"ready and waiting for a CPU", "ratio", true, true},
	"threads.on_cpu":         {"on a CPU", "ratio", true, false},
	"processes.cpu":          {"CPU time", "ratio", true, false},
	"processes.fds":          {"open descriptors", "", false, false},
	"processes.threads":      {"threads", "", false, false},
	"calls.read_time":        {"time in reads, by descriptor", "ratio", false, true},
	"calls.write_time":       {"time in writes, by descriptor", "ratio", false, true},
	"calls.read_bytes":       {"read, by descriptor", "bytes/s", false, false},
	"calls.write_bytes":      {"written, by descriptor", "bytes/s", false, false},
}

// Fields of ss, by the name that it prints.
var (
	RecvQ         = Ref{Word: "Recv-Q", Series: "sockets.recv_q"}
	SendQ         = Ref{Word: "Send-Q", Series: "sockets.send_q"}
	SocketDrops   = Ref{Word: "d", Series: "sockets.drops"}
	ReceiveMemory = Ref{Word: "r", Series: "sockets.rmem"}
	RTT           = Ref{Word: "rtt", Series: "sockets.rtt"}
	MinRTT        = Ref{Word: "minrtt", Series: "sockets.min_rtt"}
	Cwnd          = Ref{Word: "cwnd", Series: "sockets.cwnd"}
	SndWnd        = Ref{Word: "snd_wnd", Series: "sockets.snd_wnd"}
	Backoff       = Ref{Word: "backoff", Series: "sockets.backoff"}
	NotSent       = Ref{Word: "notsent", Series: "sockets.notsent_bytes"}
	BytesSent     = Ref{Word: "bytes_sent", Series: "sockets.bytes_sent"}
	BytesAcked    = Ref{Word: "bytes_acked", Series: "sockets.bytes_acked"}
	BytesReceived = Ref{Word: "bytes_received", Series: "sockets.bytes_received"}
	SegsIn        = Ref{Word: "segs_in", Series: "sockets.segs_in"}
	DataSegsIn    = Ref{Word: "data_segs_in", Series: "sockets.data_segs_in"}
	DataSegsOut   = Ref{Word: "data_segs_out", Series: "sockets.data_segs_out"}
	OutOfOrder    = Ref{Word: "rcv_ooopack", Series: "sockets.rcv_ooopack"}
	DSACKs        = Ref{Word: "dsack_dups", Series: "sockets.dsack_dups"}
	LastRcv       = Ref{Word: "lastrcv", Series: "sockets.last_rcv"}
	LastSnd       = Ref{Word: "lastsnd", Series: "sockets.last_snd"}
	LastAck       = Ref{Word: "lastack", Series: "sockets.last_ack"}
	Retrans       = Ref{Word: "retrans", Series: "sockets.total_retrans"}
	RwndLimited   = Ref{Word: "rwnd_limited", Series: "sockets.rwnd_limited"}
	SndbufLimited = Ref{Word: "sndbuf_limited", Series: "sockets.sndbuf_limited"}
)

// events are those of a kind: how many, or for how much of the time they lasted.
func events(column, kind string) Ref {
	return Ref{Series: column, Labels: recording.Labels{"kind": kind}}
}

// What probes of snag's own count, a second at a time.
var (
	TurnTimes     = Ref{Series: "turns.mean"}
	TurnCount     = Ref{Series: "turns.n"}
	FailedAnswers = Ref{Series: "turns.failed"}
	NamesAsked    = Ref{Series: "queries.asked"}
	NamesGivenUp  = Ref{Series: "queries.gave_up"}
	CallErrors    = Ref{Series: "errors.n"}
	States        = Ref{Series: "thread_states.n"}
	OffCPU        = Ref{Series: "offcpu.sum"}
	LockWaits     = Ref{Series: "lock_waits.sum"}
	Resets        = Ref{Series: "resets.n"}
	Retransmits   = Ref{Series: "retransmits.n"}
	Opened        = Ref{Series: "connections.opened"}
	Closed        = Ref{Series: "connections.closed"}
	FailedConnect = Ref{Series: "connections.failed"}
	ShortLived    = Ref{Series: "connections.short"}
	Held          = Ref{Series: "holds.held"}
	HoldMax       = Ref{Series: "holds.hold_max"}
	RunDelay      = Ref{Series: "threads.run_delay"}
	OnCPU         = Ref{Series: "threads.on_cpu"}
	Signals       = events("events.n", recording.EventSignal)
	Ends          = events("events.n", recording.EventProcessGone)
	GCPauses      = events("events.seconds", recording.EventGCPause)
	SafepointTime = events("events.seconds", recording.EventSafepoint)
	RunDelays     = events("events.seconds", recording.EventRunDelay)
	Blocked       = events("events.seconds", recording.EventBlocked)
	Freezes       = events("events.seconds", recording.EventStreamFreeze)
	Slow          = events("events.seconds", recording.EventStreamSlow)
	ProcessCPU    = Ref{Series: "processes.cpu"}
	Descriptors   = Ref{Series: "processes.fds"}
)

// Requests of a service, as the probe counts their turns, and the states in which its threads
// were found.
var (
	Turns       = Of("request turns of its listeners", TurnTimes, TurnCount)
	CallTurns   = Of("request turns of its connections", TurnTimes, TurnCount)
	AllTurns    = Of("sockets.turns", TurnTimes, TurnCount)
	ThreadState = Of("the states of its threads", States)
	FirstBytes  = Of("the first bytes of its answers", FailedAnswers)
	Lookups     = Of("datagrams to port 53 (queries)", NamesAsked, NamesGivenUp)
	OffCPUOf    = Of("sched_switch of its threads (offcpu)", OffCPU)
	LocksOf     = Of("sched_switch of its threads (offcpu, lock_waits)", LockWaits)
	Connections = Tracepoint("sock:inet_sock_set_state", Opened, FailedConnect, ShortLived)
	Retransmit  = Tracepoint("tcp:tcp_retransmit_skb", Retransmits, Ref{Series: "sockets.total_retrans"})
	Schedstat   = Of("/proc/PID/task/*/schedstat", RunDelay, OnCPU)
	Stat        = Of("/proc/PID/stat", ProcessCPU)
	Calls       = Of("/proc/PID/task/*/syscall", States)
	Disk        = Of("/proc/diskstats", DiskTime, DiskBusy)
	Qdisc       = Of("tc -s qdisc", qdisc...)
	Softnet     = Of("/proc/net/softnet_stat", softnet...)
)

// Series of the host, of control groups and of JVMs.
var (
	ConntrackEntries = Ref{Series: "node_nf_conntrack_entries"}
	PressureCPU      = Ref{Series: "node_pressure_cpu_waiting_seconds_total"}
	PressureIO       = Ref{Series: "node_pressure_io_stalled_seconds_total"}
	PressureMemory   = Ref{Series: "node_pressure_memory_stalled_seconds_total"}
	ContextSwitches  = Ref{Series: "node_context_switches_total"}
	Interrupts       = Ref{Series: "node_intr_total"}
	DiskTime         = Ref{Series: "node_disk_io_time_seconds_total"}
	DiskBusy         = Ref{Series: "node_disk_io_now"}
	Throttled        = Ref{Series: "snag_cgroup_cpu_throttled_periods_total"}
	ThrottledTime    = Ref{Series: "snag_cgroup_cpu_throttled_seconds_total"}
	GroupMemory      = Ref{Series: "snag_cgroup_memory_bytes"}
	GroupLimit       = Ref{Series: "snag_cgroup_memory_limit_bytes"}
	GroupWaitsIO     = Ref{Series: "snag_cgroup_pressure_io_stalled_seconds_total"}
	GroupWaitsMemory = Ref{Series: "snag_cgroup_pressure_memory_stalled_seconds_total"}
	GroupWaitsCPU    = Ref{Series: "snag_cgroup_pressure_cpu_waiting_seconds_total"}
	Safepoints       = Ref{Series: "snag_jvm_safepoint_seconds_total"}
	Collections      = Ref{Series: "snag_jvm_gc_seconds_total"}
	HeapUsed         = Ref{Series: "snag_jvm_heap_used_bytes"}
)

var (
	qdisc   = []Ref{{Series: "node_qdisc_drops_total"}, {Series: "node_qdisc_backlog"}, {Series: "node_qdisc_overlimits_total"}}
	softnet = []Ref{{Series: "node_softnet_dropped_total"}, {Series: "node_softnet_times_squeezed_total"}}
)

package suspects

import (
	"regexp"
	"slices"
	"strings"

	"snag/recording"
)

// sources: a Source that has all the words of has shows the series named. A word
// with a space must stand there as it is.
var sources = []struct{ has, series string }{
	{"Recv-Q", "sockets.recv_q"}, {"Send-Q", "sockets.send_q"},
	{"ss -tnom", "sockets.send_q"},
	{"ss -tnom", "sockets.rwnd_limited"}, {"ss -uam", "sockets.drops"}, {"skmem", "sockets.rmem"},
	{"rtt", "sockets.rtt"}, {"minrtt", "sockets.min_rtt"}, {"bytes_sent", "sockets.bytes_sent"},
	{"bytes_received", "sockets.bytes_received"}, {"bytes_acked", "sockets.bytes_acked"},
	{"notsent", "sockets.notsent_bytes"}, {"rwnd_limited", "sockets.rwnd_limited"},
	{"sndbuf_limited", "sockets.sndbuf_limited"}, {"cwnd", "sockets.cwnd"}, {"backoff", "sockets.backoff"},
	{"retrans", "sockets.total_retrans"}, {"snd_wnd", "sockets.snd_wnd"},
	{"skb:kfree_skb", "drops.n"}, {"tcp:tcp_retransmit_skb", "retransmits.n"},
	{"tcp:tcp_receive_reset", "resets.n"}, {"tcp:tcp_send_reset", "resets.n"}, {"reset tracepoints", "resets.n"},
	{"sock:inet_sock_set_state", "connections.opened"}, {"sock:inet_sock_set_state", "connections.failed"},
	{"sock:inet_sock_set_state", "connections.short"}, {"at close", "connections.closed"},
	{"sock:sock_send_length", "holds.held"}, {"sock:sock_send_length", "holds.hold_max"},
	{"turns", "turns.mean"}, {"turns", "turns.n"}, {"errors", "errors.n"},
	{"schedstat", "threads.run_delay"}, {"schedstat", "threads.on_cpu"},
	{"/fd", "processes.fds"}, {"/proc/PID/stat", "processes.cpu"}, {"/limits", "processes.fds"},
	{"sockstat TCP tw", "node_sockstat_TCP_tw"}, {"sockstat TCP mem", "node_sockstat_TCP_mem"},
	{"sockstat UDP mem", "node_sockstat_UDP_mem"},
	{"softnet", "node_softnet_dropped_total"}, {"softnet", "node_softnet_times_squeezed_total"},
	{"qdisc", "node_qdisc_drops_total"}, {"qdisc", "node_qdisc_backlog"}, {"qdisc", "node_qdisc_overlimits_total"},
	{"cpu.stat", "snag_cgroup_cpu_throttled_periods_total"}, {"cpu.stat", "snag_cgroup_cpu_throttled_seconds_total"},
	{"pressure/cpu", "node_pressure_cpu_waiting_seconds_total"}, {"pressure/io", "node_pressure_io_stalled_seconds_total"},
	{"pressure/memory", "node_pressure_memory_stalled_seconds_total"}, {"loadavg", "node_load1"},
	{"ss -tun", "sockets.recv_q"}, {"request-latency", "turns.mean"}, {"connect-latency", "connections.failed"},
	{"diskstats", "node_disk_io_time_seconds_total"}, {"diskstats", "node_disk_io_now"},
	{"/proc/stat ctxt", "node_context_switches_total"}, {"intr", "node_intr_total"},
	{"buddyinfo", "node_buddyinfo_blocks"}, {"conntrack", "node_nf_conntrack_entries"},
	{"memory.current", "snag_cgroup_memory_bytes"}, {"memory.max", "snag_cgroup_memory_limit_bytes"},
	{"io.pressure", "snag_cgroup_pressure_io_stalled_seconds_total"}, {"memory.pressure", "snag_cgroup_pressure_memory_stalled_seconds_total"},
	{"cpu.pressure", "snag_cgroup_pressure_cpu_waiting_seconds_total"},
	{"safepointTime", "snag_jvm_safepoint_seconds_total"}, {"sun.gc.collector", "snag_jvm_gc_seconds_total"},
	{"sun.gc.generation", "snag_jvm_heap_used_bytes"},
}

// shapes are the names that a field of a kernel file has as a series: the vmstat
// field pswpout is node_vmstat_pswpout.
var shapes = [][2]string{
	{"", ""}, {"node_vmstat_", ""}, {"node_memory_", "_bytes"}, {"node_memory_numa_", ""}, {"node_memory_numa_", "_total"},
	{"node_ethtool_", ""}, {"node_nf_conntrack_stat_", ""},
}

// word adds what one word of a Source names: a series, one with its labels, or a
// field of a kernel file.
func (b *Behind) word(w string, sub recording.Subject, add func(string)) {
	if name, _, labelled := strings.Cut(w, "{"); labelled {
		if _, recorded := b.names[name]; recorded && strings.HasSuffix(w, "}") {
			add(w)
		}
		return
	}
	for _, s := range shapes {
		b.samples(s[0]+w+s[1], sub, add)
	}
}

// processFile is the stat of a process or of its threads, which has its CPU time.
var processFile = regexp.MustCompile(`/proc/(\d+|PID)/(task/[^/ ]+/)?stat\b`)

// modes of /proc/stat, and a CPU's name there.
var (
	modes   = []string{"user", "nice", "system", "iowait", "irq", "softirq", "steal"}
	cpuName = regexp.MustCompile(`^cpu(\d+)$`)
)

// cpu adds the CPU time that a Source of /proc/stat names by mode and CPU; what
// names no mode is what the CPUs had left.
func (b *Behind) cpu(source string, words []string, add func(string)) {
	const name = "node_cpu_seconds_total"
	if _, recorded := b.names[name]; !recorded || !strings.HasPrefix(source, "/proc/stat") || strings.Contains(source, "ctxt") {
		return
	}
	l := recording.Labels{}
	for _, w := range words {
		if m := cpuName.FindStringSubmatch(w); m != nil {
			l["cpu"] = m[1]
		}
	}
	any := false
	for _, w := range words {
		if slices.Contains(modes, w) {
			l["mode"], any = w, true
			add(name + braces(l))
		}
	}
	if !any {
		l["mode"] = "idle"
		add(name + braces(l))
	}
}

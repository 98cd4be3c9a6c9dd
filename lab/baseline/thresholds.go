package baseline

import (
	"snag/lab"
	"snag/recording"
)

// threshold is the rule of a plain dashboard: a counter that grew by more than
// Over in a minute goes red, and people think of that cause.
type threshold struct {
	Counter string
	Over    float64 // a minute
	Cause   string
}

// thresholds: one for each counter that operators' dashboards and run books show
// (the rows of node_exporter's dashboards, `nstat -a`, `netstat -s`), set where
// they are usually set: above the stray count of a healthy host, and, for what is
// always counted on a busy one (retransmits, squeezes), at a rate. The cause is
// what the counter's name says. Nothing was tuned on the lab.
var thresholds = []threshold{
	{"node_netstat_Udp_RcvbufErrors", 10, "udp-receive-buffer-full"},
	{"node_netstat_Udp6_RcvbufErrors", 10, "udp-receive-buffer-full"},
	{"node_netstat_Udp_NoPorts", 60, "udp-port-closed"},
	{"node_netstat_Udp_SndbufErrors", 10, "qdisc-drop"},
	{"node_netstat_Ip_OutDiscards", 10, "qdisc-drop"},
	{"node_qdisc_drops_total", 10, "qdisc-drop"},
	{"snag_qdisc_flow_limit_drops_total", 10, "fq-flow-limit"},
	{"node_softnet_dropped_total", 0, "softnet-backlog"},
	{"node_softnet_times_squeezed_total", 60, "softirq-on-one-cpu"},
	{"node_network_receive_drop_total", 10, "nic-ring-overflow"},
	{"node_network_receive_fifo_total", 0, "nic-ring-overflow"},
	{"node_netstat_Tcp_RetransSegs", 60, "packet-loss"},
	{"node_netstat_TcpExt_TCPSACKReorder", 60, "packet-reordering"},
	{"node_netstat_TcpExt_TCPOFOQueue", 600, "packet-reordering"},
	{"node_netstat_Ip_FragFails", 10, "pmtu-blackhole"},
	{"node_netstat_TcpExt_ListenOverflows", 10, "listen-overflow"},
	{"node_netstat_TcpExt_ListenDrops", 10, "listen-overflow"},
	{"node_netstat_Tcp_PassiveOpens", 6000, "reconnect-storm"},
	{"node_netstat_TcpExt_TW", 6000, "reconnect-storm"},
	{"node_netstat_Tcp_EstabResets", 60, "peer-reset"},
	{"node_netstat_Tcp_OutRsts", 60, "peer-reset"},
	{"node_netstat_TcpExt_TCPAbortOnData", 60, "peer-reset"},
	{"node_netstat_TcpExt_TCPAbortOnClose", 60, "peer-reset"},
	{"node_netstat_TcpExt_TCPToZeroWindowAdv", 60, "slow-consumer"},
	{"node_netstat_TcpExt_TCPWantZeroWindowAdv", 60, "slow-consumer"},
	{"node_netstat_TcpExt_DelayedACKs", 600, "nagle-delayed-ack"},
	{"node_netstat_TcpExt_IPReversePathFilter", 10, "reverse-path-filter"},
	{"node_netstat_IpExt_InNoRoutes", 10, "no-route"},
	{"node_netstat_Ip_OutNoRoutes", 10, "no-route"},
	{"node_netstat_TcpExt_TCPReqQFullDoCookies", 10, "syn-flood"},
	{"node_netstat_TcpExt_TCPReqQFullDrop", 10, "syn-flood"},
	{"node_netstat_TcpExt_SyncookiesSent", 10, "syn-flood"},
	{"snag_cgroup_cpu_throttled_periods_total", 60, "cpu-throttled"}, // one in ten
	{"node_pressure_cpu_waiting_seconds_total", 30, "run-queue-wait"},
	{"node_pressure_io_waiting_seconds_total", 12, "disk-stall"}, // a fifth of the time
	{"node_vmstat_pswpin", 600, "swap"},
	{"node_vmstat_compact_stall", 60, "memory-fragmentation"},
	{"node_vmstat_allocstall", 60, "memory-fragmentation"},
	{"node_vmstat_numa_miss", 6000, "numa-imbalance"},
	{"node_nf_conntrack_stat_insert_failed", 0, "conntrack-full"},
	{"node_nf_conntrack_stat_drop", 0, "conntrack-full"},
}

// Thresholds judges a recording by one threshold for each counter. A recording
// shorter than a minute is taken for the minute's rate.
func Thresholds(r *recording.Recording) (lab.Answer, error) {
	var out []alarm
	for _, t := range thresholds {
		for _, s := range r.Select(t.Counter) {
			perSecond, ok := rate(s, r.Manifest.End, r.Length())
			if grown := 60 * perSecond; ok && grown > t.Over {
				out = append(out, alarm{t.Cause, describe(r, s), machineOr(r, s), grown / max(1, t.Over)})
			}
		}
	}
	return answer(out)
}

// machineOr is the namespace of a series, or 0 where it is the machine's.
func machineOr(r *recording.Recording, s recording.Series) uint64 {
	if !perNamespace(s.Name) {
		return 0
	}
	return namespaceOf(r, s.Labels)
}

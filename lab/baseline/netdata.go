package baseline

import (
	"time"

	"snag/lab"
	"snag/recording"
)

// NetdataCommit is the version of github.com/netdata/netdata whose stock rules
// these are: src/health/health.d/FILE at this commit (2026-08-22).
const NetdataCommit = "04b1cf54270c4e21c02e322e577e7e96d547c9ee"

// rule is one of Netdata's stock alarms, with its published thresholds, and the
// cause of the catalogue that its name and its info line point to.
type rule struct {
	Name string // of the alarm or template
	File string // in src/health/health.d
	// Every is how often it is evaluated.
	Every time.Duration
	// It is raised above Warn, and stays raised until it is not above Hold: the
	// `$status >= $WARNING` form of their expressions. Below turns both round.
	Warn, Hold float64
	Below      bool
	Value      func(r *recording.Recording, end recording.Time) []reading
	Cause      string
}

// reading is the value of an alarm's lookup and calc lines for one chart.
type reading struct {
	key     string // what the status is remembered by
	subject string
	netns   uint64
	value   float64
}

// The lookups' usual lengths.
const (
	shortest = 10 * time.Second
	minute   = time.Minute
)

// netdataRules are those stock rules whose counters a recording can have and
// whose names point to a cause of the catalogue. Left out, since they point to
// none: tcp_memory, 1m_*_traffic_overflow (needs the link's speed),
// 10s_received_packets_storm, oom_kill, disk space; and ping.conf, which watches
// nothing until it is told what to ping.
var netdataRules = []rule{
	{"1m_ipv4_udp_receive_buffer_errors", "udp_errors.conf", shortest, 10, 0, false,
		averageOf("node_netstat_Udp_RcvbufErrors", minute), "udp-receive-buffer-full"},
	{"1m_ipv4_udp_send_buffer_errors", "udp_errors.conf", shortest, 10, 0, false,
		averageOf("node_netstat_Udp_SndbufErrors", minute), "qdisc-drop"},
	{"1min_netdev_backlog_exceeded", "softnet.conf", shortest, 10, 0, false,
		together("node_softnet_dropped_total", minute), "softnet-backlog"},
	{"1min_netdev_budget_ran_outs", "softnet.conf", shortest, 10, 0, false,
		together("node_softnet_times_squeezed_total", minute), "softirq-on-one-cpu"},
	{"10s_ip_tcp_resets_sent", "tcp_resets.conf", shortest, 50, 5, false,
		averageOf("node_netstat_Tcp_OutRsts", shortest), "peer-reset"},
	{"10s_ip_tcp_resets_received", "tcp_resets.conf", shortest, 50, 5, false,
		averageOf("node_netstat_Tcp_AttemptFails", shortest), "peer-reset"},
	{"1m_tcp_accept_queue_overflows", "tcp_listen.conf", shortest, 1, 1, false,
		averageOf("node_netstat_TcpExt_ListenOverflows", minute), "listen-overflow"},
	{"1m_tcp_accept_queue_drops", "tcp_listen.conf", shortest, 1, 1, false,
		averageOf("node_netstat_TcpExt_ListenDrops", minute), "listen-overflow"},
	{"1m_tcp_syn_queue_drops", "tcp_listen.conf", shortest, 1, 1, false,
		averageOf("node_netstat_TcpExt_TCPReqQFullDrop", minute), "syn-flood"},
	{"1m_tcp_syn_queue_cookies", "tcp_listen.conf", shortest, 1, 1, false,
		averageOf("node_netstat_TcpExt_TCPReqQFullDoCookies", minute), "syn-flood"},
	{"tcp_orphans", "tcp_orphans.conf", shortest, 25, 20, false, orphans, "half-open-peer"},
	{"netfilter_conntrack_full", "netfilter.conf", shortest, 90, 85, false, conntrackFill, "conntrack-full"},
	{"inbound_packets_dropped_ratio", "net.conf", minute, 2, 2, false, // warn: $this >= 2
		dropRatio("receive", 10_000), "nic-ring-overflow"},
	{"outbound_packets_dropped_ratio", "net.conf", minute, 2, 2, false, dropRatio("transmit", 1_000), "qdisc-drop"},
	{"10min_fifo_errors", "net.conf", minute, 0, 0, false,
		averageOf("node_network_receive_fifo_total", 10*minute), "nic-ring-overflow"},
	{"10min_qos_packet_drops", "qos.conf", 30 * time.Second, 0, 0, false,
		averageOf("node_qdisc_drops_total", 5*minute), "qdisc-drop"},
	{"system_file_descriptors_utilization", "file_descriptors.conf", minute, 90, 90, false, fileTable, "fd-limit"},
	{"apps_group_file_descriptors_utilization", "file_descriptors.conf", shortest, 95, 85, false, processFiles, "fd-limit"},
	{"cgroup_10min_cpu_usage", "cgroups.conf", minute, 95, 95, false, groupUsage, "cpu-throttled"},
	{"10min_cpu_usage", "cpu.conf", minute, 85, 75, false, // user, system, softirq, irq, guest
		cpuShare(10*minute, "user", "system", "softirq", "irq"), "cpu-saturated"},
	{"10min_cpu_iowait", "cpu.conf", minute, 40, 20, false, cpuShare(10*minute, "iowait"), "disk-stall"},
	{"20min_steal_cpu", "cpu.conf", 5 * minute, 10, 5, false, cpuShare(20*minute, "steal"), "run-queue-wait"},
	{"load_average_1", "load.conf", minute, 800, 700, false, loadShare("node_load1"), "run-queue-wait"},
	{"load_average_5", "load.conf", minute, 400, 350, false, loadShare("node_load5"), "run-queue-wait"},
	{"load_average_15", "load.conf", minute, 200, 175, false, loadShare("node_load15"), "run-queue-wait"},
	{"ram_in_use", "ram.conf", shortest, 90, 80, false, ramInUse, "swap"},
	{"ram_available", "ram.conf", shortest, 10, 15, true, ramAvailable, "swap"},
	{"used_swap", "swap.conf", shortest, 90, 80, false, usedSwap, "swap"},
	{"30min_ram_swapped_out", "swap.conf", minute, 30, 20, false, swappedOut, "swap"},
	{"10min_disk_utilization", "disks.conf", minute, 98, 98 * 0.7, false,
		scaled(100, averageOf("node_disk_io_time_seconds_total", 10*minute)), "disk-stall"},
	{"10min_disk_backlog", "disks.conf", minute, 5000, 5000 * 0.7, false,
		scaled(1000, averageOf("node_disk_io_time_weighted_seconds_total", 10*minute)), "disk-stall"},
}

// Netdata judges a recording by Netdata's stock rules. Each is evaluated as often
// as it says and once more at the recording's end, over as much of its lookup as
// was recorded: what a longer one would add is taken to be like it. An alarm that
// stands at the end accuses. Its delay lines hold back the message, not the state,
// and are not applied.
func Netdata(r *recording.Recording) (lab.Answer, error) {
	var out []alarm
	for _, rule := range netdataRules {
		out = append(out, rule.raised(r)...)
	}
	return answer(out)
}

func (u rule) raised(r *recording.Recording) []alarm {
	up := map[string]bool{}
	var out []alarm
	for _, end := range ticks(r, u.Every) {
		out = nil
		for _, v := range u.Value(r, end) {
			limit := u.Warn
			if up[v.key] {
				limit = u.Hold
			}
			if up[v.key] = u.beyond(v.value, limit); !up[v.key] {
				continue
			}
			over := v.value / max(u.Warn, 1)
			if u.Below {
				over = u.Warn / max(v.value, 1)
			}
			out = append(out, alarm{u.Cause, u.Name + ": " + v.subject, v.netns, over})
		}
	}
	return out
}

// atLeast are the rules of net.conf that are written with >=.
var atLeast = map[string]bool{"inbound_packets_dropped_ratio": true, "outbound_packets_dropped_ratio": true}

func (u rule) beyond(v, limit float64) bool {
	switch {
	case u.Below:
		return v < limit
	case atLeast[u.Name]:
		return v >= limit
	default:
		return v > limit
	}
}

// ticks are the times at which a rule is evaluated: every so often, and at the end.
func ticks(r *recording.Recording, every time.Duration) []recording.Time {
	var out []recording.Time
	for t := r.Manifest.Start.Add(every); t < r.Manifest.End; t = t.Add(every) {
		out = append(out, t)
	}
	return append(out, r.Manifest.End)
}

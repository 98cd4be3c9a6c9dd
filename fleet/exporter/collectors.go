package exporter

import (
	"fmt"
	"strings"
)

// how a metric becomes one number for the time that is asked for.
type how int

const (
	perSecond how = iota // a counter: how fast it grew. PromQL takes a fall for a restart from zero.
	most                 // a gauge: the most that it was; what is usual is its mean
	least                // a gauge: the least that it was; what is usual is its mean
	last                 // a gauge that is set: what it is; nothing is usual
	samples              // how often it was scraped
	ahead                // a clock: how far it is ahead of the store's; nothing is usual
)

// ask is one number of each host, or one for each value of a label.
type ask struct {
	name, metric string
	how          how
	match        string // more matchers
	each         string // a label: one number for each of its values
	over         string // a label: the sum over its values; with count, how many it has
	count        bool
}

// collector is one of node_exporter's. What it has is asked in one query, so that a store that refuses one answers the
// others.
type collector struct {
	name string
	asks []ask
}

// wire leaves out interfaces that hosts with containers have hundreds of, and that no cable or driver is behind.
const wire = `device!~"lo|veth.*|cali.*|cilium.*|lxc.*|tap.*|tun.*|docker.*|br-.*|cni.*|flannel.*|virbr.*|dummy.*|ifb.*"`

// collectors is all that is asked for: the number of queries does not depend on that of the hosts.
var collectors = []collector{
	{"stat", []ask{{name: "boot", metric: "node_boot_time_seconds", how: last}, {name: "samples", metric: "node_boot_time_seconds", how: samples}}},
	{"netstat", []ask{
		{name: "overflows", metric: "node_netstat_TcpExt_ListenOverflows"}, {name: "listen drops", metric: "node_netstat_TcpExt_ListenDrops"},
		{name: "cookies", metric: "node_netstat_TcpExt_SyncookiesSent"},
		{name: "again", metric: "node_netstat_Tcp_RetransSegs"}, {name: "segments", metric: "node_netstat_Tcp_OutSegs"},
		{name: "udp full", metric: "node_netstat_Udp_RcvbufErrors"}, {name: "udp6 full", metric: "node_netstat_Udp6_RcvbufErrors"},
		{name: "udp", metric: "node_netstat_Udp_InDatagrams"}, {name: "udp6", metric: "node_netstat_Udp6_InDatagrams"},
	}},
	{"conntrack", []ask{
		{name: "entries", metric: "node_nf_conntrack_entries", how: most}, {name: "entries limit", metric: "node_nf_conntrack_entries_limit", how: last},
		{name: "untracked", metric: "node_nf_conntrack_stat_drop"},
	}},
	{"softnet", []ask{{name: "backlog drops", metric: "node_softnet_dropped_total", over: "cpu"}, {name: "squeezes", metric: "node_softnet_times_squeezed_total", over: "cpu"}}},
	{"netdev", []ask{
		{name: "packets in", metric: "node_network_receive_packets_total", match: wire, each: "device"}, {name: "packets out", metric: "node_network_transmit_packets_total", match: wire, each: "device"},
		{name: "drops in", metric: "node_network_receive_drop_total", match: wire, each: "device"}, {name: "drops out", metric: "node_network_transmit_drop_total", match: wire, each: "device"},
		{name: "errors in", metric: "node_network_receive_errs_total", match: wire, each: "device"}, {name: "errors out", metric: "node_network_transmit_errs_total", match: wire, each: "device"},
		{name: "fifo in", metric: "node_network_receive_fifo_total", match: wire, each: "device"},
	}},
	{"qdisc", []ask{{name: "qdisc drops", metric: "node_qdisc_drops_total", match: wire, each: "device"}}},
	{"cpu", []ask{
		{name: "idle", metric: "node_cpu_seconds_total", match: `mode="idle"`, over: "cpu"}, {name: "iowait", metric: "node_cpu_seconds_total", match: `mode="iowait"`, over: "cpu"},
		{name: "steal", metric: "node_cpu_seconds_total", match: `mode="steal"`, over: "cpu"}, {name: "softirq", metric: "node_cpu_seconds_total", match: `mode="softirq"`}, // of the CPU that has most of it
		{name: "cpus", metric: "node_cpu_seconds_total", match: `mode="idle"`, how: last, over: "cpu", count: true},
	}},
	{"loadavg", []ask{{name: "load", metric: "node_load1", how: most}}},
	{"pressure", []ask{
		{name: "waits for cpu", metric: "node_pressure_cpu_waiting_seconds_total"}, {name: "stalled by io", metric: "node_pressure_io_stalled_seconds_total"},
		{name: "waits for memory", metric: "node_pressure_memory_waiting_seconds_total"},
	}},
	{"diskstats", []ask{
		{name: "disk busy", metric: "node_disk_io_time_seconds_total", each: "device"}, {name: "disk time", metric: "node_disk_io_time_weighted_seconds_total", each: "device"},
		{name: "reads", metric: "node_disk_reads_completed_total", each: "device"}, {name: "writes", metric: "node_disk_writes_completed_total", each: "device"},
		{name: "read time", metric: "node_disk_read_time_seconds_total", each: "device"}, {name: "write time", metric: "node_disk_write_time_seconds_total", each: "device"},
	}},
	{"vmstat", []ask{
		{name: "oom kills", metric: "node_vmstat_oom_kill"}, {name: "swapped in", metric: "node_vmstat_pswpin"}, {name: "swapped out", metric: "node_vmstat_pswpout"},
		{name: "major faults", metric: "node_vmstat_pgmajfault"},
	}},
	{"meminfo", []ask{{name: "available", metric: "node_memory_MemAvailable_bytes", how: least}, {name: "memory", metric: "node_memory_MemTotal_bytes", how: last}}},
	{"filefd", []ask{{name: "files", metric: "node_filefd_allocated", how: most}, {name: "files limit", metric: "node_filefd_maximum", how: last}}},
	{"timex", []ask{{name: "offset", metric: "node_timex_offset_seconds", how: last}, {name: "synchronized", metric: "node_timex_sync_status", how: last}}},
	{"time", []ask{{name: "clock ahead", metric: "node_time_seconds", how: ahead}}},
	{"sockstat", []ask{
		{name: "time-wait", metric: "node_sockstat_TCP_tw", how: most}, {name: "orphans", metric: "node_sockstat_TCP_orphan", how: most},
		{name: "tcp memory", metric: "node_sockstat_TCP_mem_bytes", how: most},
	}},
}

// expression is the PromQL of an ask, and whether there is one: nothing is usual of a setting.
func (a ask) expression(only string, usual bool) (string, bool) {
	matchers := strings.Trim(only+","+a.match, ",")
	series := a.metric + "{" + matchers + "}"
	ranged := fmt.Sprintf("%s[%dm]", series, int(Window.Minutes()))
	mean := "avg_over_time"
	if usual {
		ranged = fmt.Sprintf("%s[%dm] offset %dm", series, int(before.Minutes()), int(Window.Minutes()))
	}
	var x string
	switch a.how {
	case perSecond:
		x = "rate(" + ranged + ")"
	case samples:
		x = "count_over_time(" + ranged + ")"
	case most, least:
		x = map[how]string{most: "max_over_time", least: "min_over_time"}[a.how] + "(" + ranged + ")"
		if usual {
			x = mean + "(" + ranged + ")"
		}
	case ahead:
		x = series + " - timestamp(" + series + ")"
	case last:
		x = series
	}
	if usual && (a.how == last || a.how == ahead) {
		return "", false
	}
	switch {
	case a.each != "":
		x = fmt.Sprintf("max by (%s, %s) (%s)", labels, a.each, x)
	case a.over != "":
		fold := "sum"
		if a.count {
			fold = "count"
		}
		x = fmt.Sprintf("%s by (%s) (max by (%s, %s) (%s))", fold, labels, labels, a.over, x)
	default:
		x = fmt.Sprintf("max by (%s) (%s)", labels, x)
	}
	return fmt.Sprintf(`label_replace(%s, "asked", "%s", "", "")`, x, a.name), true
}

// query is the PromQL of all that a collector is asked for; "": nothing.
func (c collector) query(only string, usual bool) string {
	var all []string
	for _, a := range c.asks {
		if x, ok := a.expression(only, usual); ok {
			all = append(all, x)
		}
	}
	return strings.Join(all, " or ")
}

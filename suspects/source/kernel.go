package source

import (
	"fmt"

	"snag/recording"
)

// SS is ss with these flags, and the fields read: ss -tnp Recv-Q.
func SS(flags string, fields ...Ref) Source { return At("ss "+flags, fields...) }

// SNMP are counters of /proc/net/snmp; their series are named after the protocol and the field.
func SNMP(proto string, fields ...string) Source {
	return At("/proc/net/snmp "+proto, netstat(proto, fields)...)
}

// Netstat are counters of /proc/net/netstat's TcpExt.
func Netstat(fields ...string) Source { return At("/proc/net/netstat", netstat("TcpExt", fields)...) }

func netstat(proto string, fields []string) (out []Ref) {
	for _, f := range fields {
		out = append(out, Ref{Word: f, Series: "node_netstat_" + proto + "_" + f})
	}
	return out
}

// VMStat are fields of /proc/vmstat.
func VMStat(fields ...string) Source {
	var refs []Ref
	for _, f := range fields {
		refs = append(refs, Ref{Word: f, Series: "node_vmstat_" + f})
	}
	return At("/proc/vmstat", refs...)
}

// Drops is the tracepoint of dropped packets; with reasons, of those only.
func Drops(reasons ...string) Source {
	if len(reasons) == 0 {
		return Of("tracepoint skb:kfree_skb", Ref{Series: "drops.n"})
	}
	var refs []Ref
	for _, r := range reasons {
		refs = append(refs, Ref{Word: r, Series: "drops.n", Labels: recording.Labels{"reason": r}})
	}
	return At("tracepoint skb:kfree_skb", refs...)
}

// CPU is CPU time by mode (user, softirq …) and CPU; "" is all of them.
func CPU(text, cpu string, modes ...string) Source {
	var refs []Ref
	for _, m := range modes {
		l := recording.Labels{"mode": m}
		if cpu != "" {
			l["cpu"] = cpu
		}
		refs = append(refs, Ref{Series: "node_cpu_seconds_total", Labels: l})
	}
	return Of(text, refs...)
}

// Tracepoint is one whose records are in a table.
func Tracepoint(name string, refs ...Ref) Source { return Of("tracepoint "+name, refs...) }

// Sample is a series that bears its own name.
func Sample(name string) Ref { return Ref{Word: name, Series: name} }

// CallsOf is what the threads of a process were found in.
func CallsOf(pid int) Source { return Calls.As(fmt.Sprintf("/proc/%d/task/*/syscall", pid)) }

// StatOf is the CPU time of a process.
func StatOf(pid int) Source { return Stat.As(fmt.Sprintf("/proc/%d/stat", pid)) }

// SchedstatOf is for how long the threads of a process ran, and waited for a CPU.
func SchedstatOf(pid int) Source { return Schedstat.As(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) }

// ConntrackStat are counters of connection tracking.
func ConntrackStat(fields ...string) Source {
	var refs []Ref
	for _, f := range fields {
		refs = append(refs, Ref{Word: f, Series: "node_nf_conntrack_stat_" + f})
	}
	return At("/proc/net/stat/nf_conntrack", refs...).With(ConntrackEntries)
}

package suspects

import (
	"reflect"
	"testing"

	"snag/recording"
	"snag/suspects/suspect"
)

func TestSeriesBehindASource(t *testing.T) {
	r := &recording.Recording{Manifest: recording.Manifest{Netns: 1}, Series: []recording.Series{
		{Name: "node_netstat_Udp_InErrors", Labels: recording.Labels{"netns": "7"}},
		{Name: "node_netstat_Udp_RcvbufErrors"},
		{Name: "node_netstat_Udp_RcvbufErrors", Labels: recording.Labels{"netns": "7"}},
		{Name: "node_netstat_Tcp_InErrors", Labels: recording.Labels{"netns": "7"}},
		{Name: "node_netstat_TcpExt_ListenDrops", Labels: recording.Labels{"netns": "7"}},
		{Name: "node_network_carrier", Labels: recording.Labels{"netns": "7", "device": "eth0"}},
		{Name: "node_qdisc_drops_total", Labels: recording.Labels{"netns": "7", "device": "eth0", "handle": "8001:"}},
		{Name: "node_qdisc_drops_total", Labels: recording.Labels{"netns": "7", "device": "eth1", "handle": "8002:"}},
		{Name: "snag_cgroup_cpu_throttled_periods_total", Labels: recording.Labels{"cgroup": "/web"}},
		{Name: "node_vmstat_pswpout"},
		{Name: "node_cpu_seconds_total", Labels: recording.Labels{"cpu": "1", "mode": "softirq"}},
		{Name: "snag_probe_late_seconds", Labels: recording.Labels{"probe": "jvm"}},
		{Name: "node_disk_io_now", Labels: recording.Labels{"device": "sda"}},
		{Name: "node_disk_io_now", Labels: recording.Labels{"device": "sdb"}},
		{Name: "snag_jvm_gc_seconds_total", Labels: recording.Labels{"pid": "70", "collector": "0"}},
	}}
	b := NewBehind(r)
	socket := recording.Subject{Kind: recording.KindSocket, Netns: 7, Proto: "udp", Local: "10.0.0.1:5004"}
	listener := recording.Subject{Kind: recording.KindListener, Netns: 7, Local: "0.0.0.0:80"}
	qdisc := recording.Subject{Kind: recording.KindQdisc, Netns: 7, Device: "eth0", Handle: "8001:"}
	for _, c := range []struct {
		source string
		sub    recording.Subject
		want   []string
	}{
		{"/proc/net/snmp Udp RcvbufErrors", socket, []string{`node_netstat_Udp_RcvbufErrors{netns="7"}`}},
		{"/proc/net/snmp Udp RcvbufErrors", recording.Subject{Kind: recording.KindSocket, Netns: 1}, []string{`node_netstat_Udp_RcvbufErrors`}},
		{"/proc/net/snmp Udp InErrors", socket, []string{`node_netstat_Udp_InErrors{netns="7"}`}},
		{"/proc/net/snmp Udp NoPorts", socket, nil}, // not recorded
		{"/proc/net/netstat ListenOverflows, ListenDrops", socket, []string{`node_netstat_TcpExt_ListenDrops{netns="7"}`}},
		{"tracepoint skb:kfree_skb SOCKET_RCVBUFF", socket, []string{`drops.n{netns="7",reason="SOCKET_RCVBUFF"}`}},
		{"ss -ltn Recv-Q", listener, []string{`sockets.recv_q{local="0.0.0.0:80",netns="7"}`}},
		{"ss -ti bytes_sent", listener, []string{`sockets.bytes_sent{netns="7",port="80"}`}},
		{"tc -s qdisc", qdisc, []string{`node_qdisc_drops_total{device="eth0",handle="8001:",netns="7"}`}},
		{"node_network_carrier; ethtool eth0", qdisc, []string{`node_network_carrier{device="eth0",netns="7"}`}},
		{"cpu.stat nr_throttled", recording.Subject{Kind: recording.KindCgroup, Cgroup: "/web"}, []string{`snag_cgroup_cpu_throttled_periods_total{cgroup="/web"}`}},
		{"ss -tn Recv-Q", recording.Subject{Kind: recording.KindHost}, nil}, // all sockets there are tell nothing
		{"/proc/vmstat pswpin, pswpout", recording.Subject{Kind: recording.KindHost}, []string{"node_vmstat_pswpout"}},
		{"/proc/stat, softirq of cpu1", recording.Subject{Kind: recording.KindCPU}, []string{`node_cpu_seconds_total{cpu="1",mode="softirq"}`}},
		{"/proc/vmstat pswpout", recording.Subject{Kind: recording.KindProcess, Netns: 7, PID: 70}, []string{"node_vmstat_pswpout"}}, // the host's
		{"/proc/70/stat", recording.Subject{Kind: recording.KindProcess, PID: 70}, []string{`processes.cpu{pid="70"}`}},
		{"/proc/diskstats sdb", recording.Subject{Kind: recording.KindDisk, Device: "sdb"}, []string{`node_disk_io_now{device="sdb"}`}},
		{"sun.gc.collector (jcmd 70 PerfCounter.print)", recording.Subject{Kind: recording.KindProcess, PID: 70}, []string{`snag_jvm_gc_seconds_total{pid="70"}`}},
		{`snag_probe_late_seconds{probe="jvm"}`, recording.Subject{Kind: recording.KindObserver}, []string{`snag_probe_late_seconds{probe="jvm"}`}},
		{"", socket, nil},
	} {
		if got := b.Series(suspect.Evidence{Source: c.source}, c.sub); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s of a %s: %q, want %q", c.source, c.sub.Kind, got, c.want)
		}
	}
	own := suspect.Evidence{Source: "tc -s qdisc", Series: []string{"node_load1"}}
	if got := b.Series(own, qdisc); !reflect.DeepEqual(got, own.Series) {
		t.Errorf("what the suspect named was replaced: %q", got)
	}
}

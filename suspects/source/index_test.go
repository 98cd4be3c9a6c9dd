package source

import (
	"reflect"
	"testing"

	"snag/recording"
)

func TestSelectors(t *testing.T) {
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
	b := NewIndex(r)
	socket := recording.Subject{Kind: recording.KindSocket, Netns: 7, Proto: "udp", Local: "10.0.0.1:5004"}
	listener := recording.Subject{Kind: recording.KindListener, Netns: 7, Local: "0.0.0.0:80"}
	qdisc := recording.Subject{Kind: recording.KindQdisc, Netns: 7, Device: "eth0", Handle: "8001:"}
	for _, c := range []struct {
		source Source
		sub    recording.Subject
		want   []string
	}{
		{SNMP("Udp", "RcvbufErrors"), socket, []string{`node_netstat_Udp_RcvbufErrors{netns="7"}`}},
		{SNMP("Udp", "RcvbufErrors"), recording.Subject{Kind: recording.KindSocket, Netns: 1}, []string{`node_netstat_Udp_RcvbufErrors`}},
		{SNMP("Udp", "InErrors"), socket, []string{`node_netstat_Udp_InErrors{netns="7"}`}},
		{SNMP("Udp", "NoPorts"), socket, nil}, // not recorded
		{Netstat("ListenOverflows", "ListenDrops"), socket, []string{`node_netstat_TcpExt_ListenDrops{netns="7"}`}},
		{Drops("SOCKET_RCVBUFF"), socket, []string{`drops.n{netns="7",reason="SOCKET_RCVBUFF"}`}},
		{SS("-ltn", RecvQ), listener, []string{`sockets.recv_q{local="0.0.0.0:80",netns="7"}`}},
		{SS("-ti", BytesSent), listener, []string{`sockets.bytes_sent{netns="7",port="80"}`}},
		{Qdisc, qdisc, []string{`node_qdisc_drops_total{device="eth0",handle="8001:",netns="7"}`}},
		{Of("ethtool eth0", Sample("node_network_carrier")), qdisc, []string{`node_network_carrier{device="eth0",netns="7"}`}},
		{Of("cpu.stat nr_throttled", Throttled), recording.Subject{Kind: recording.KindCgroup, Cgroup: "/web"}, []string{`snag_cgroup_cpu_throttled_periods_total{cgroup="/web"}`}},
		{SS("-tn", RecvQ), recording.Subject{Kind: recording.KindHost}, nil}, // all sockets there are tell nothing
		{VMStat("pswpin", "pswpout"), recording.Subject{Kind: recording.KindHost}, []string{"node_vmstat_pswpout"}},
		{CPU("/proc/stat, softirq of cpu1", "1", "softirq"), recording.Subject{Kind: recording.KindCPU}, []string{`node_cpu_seconds_total{cpu="1",mode="softirq"}`}},
		{VMStat("pswpout"), recording.Subject{Kind: recording.KindProcess, Netns: 7, PID: 70}, []string{"node_vmstat_pswpout"}}, // the host's
		{StatOf(70), recording.Subject{Kind: recording.KindProcess, PID: 70}, []string{`processes.cpu{pid="70"}`}},
		{Of("/proc/diskstats sdb", DiskBusy), recording.Subject{Kind: recording.KindDisk, Device: "sdb"}, []string{`node_disk_io_now{device="sdb"}`}},
		{Of("sun.gc.collector (jcmd 70 PerfCounter.print)", Collections), recording.Subject{Kind: recording.KindProcess, PID: 70}, []string{`snag_jvm_gc_seconds_total{pid="70"}`}},
		{Of("x", Ref{Series: "snag_probe_late_seconds", Labels: recording.Labels{"probe": "jvm"}}), recording.Subject{Kind: recording.KindObserver}, []string{`snag_probe_late_seconds{probe="jvm"}`}},
		{Source{}, socket, nil},
	} {
		if got := b.Selectors(c.source, c.sub); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s of a %s: %q, want %q", c.source, c.sub.Kind, got, c.want)
		}
	}
}

// What is drawn of a table's column has a title, and what evidence is read from can be drawn.
func TestColumnsOfTables(t *testing.T) {
	for _, ref := range []Ref{RecvQ, SendQ, SocketDrops, ReceiveMemory, RTT, MinRTT, Cwnd, SndWnd, Backoff, NotSent, BytesSent, BytesAcked, BytesReceived, SegsIn,
		DataSegsIn, DataSegsOut, OutOfOrder, DSACKs, LastRcv, LastSnd, LastAck, Retrans, RwndLimited, SndbufLimited, TurnTimes, TurnCount, FailedAnswers, NamesAsked, NamesGivenUp,
		CallErrors, States, OffCPU, LockWaits, Resets, Retransmits, Opened, Closed, FailedConnect, ShortLived, Held, HoldMax, RunDelay, OnCPU, Signals, Ends, GCPauses,
		SafepointTime, RunDelays, Blocked, Freezes, Slow, ProcessCPU, Descriptors, Drops("X").refs[0]} {
		if c := Columns[ref.Series]; c.Title == "" {
			t.Errorf("%q has no title", ref.Series)
		}
	}
}

func TestTextsOfSources(t *testing.T) {
	for want, s := range map[string]Source{
		"ss -tnp Recv-Q, bytes_received":                                 SS("-tnp", RecvQ, BytesReceived),
		"/proc/net/snmp Udp NoPorts; tracepoint skb:kfree_skb NO_SOCKET": SNMP("Udp", "NoPorts").And(Drops("NO_SOCKET")),
		"snag_stream_frames_total, snag_stream_bytes_total":              At("", Sample("snag_stream_frames_total"), Sample("snag_stream_bytes_total")),
		"tracepoint skb:kfree_skb":                                       Source{}.And(Drops()),
	} {
		if s.String() != want {
			t.Errorf("%q, want %q", s, want)
		}
	}
	both := Qdisc.And(Drops("QDISC_DROP"))
	if len(Qdisc.Refs()) != 3 || len(both.Refs()) != 4 {
		t.Errorf("%d and %d measures", len(Qdisc.Refs()), len(both.Refs()))
	}
}

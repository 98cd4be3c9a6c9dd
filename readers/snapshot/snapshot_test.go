package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"snag/readers/reader"
	"snag/recording"
)

// taken is what was written of a look.
type taken struct {
	series map[string][]float64
	at     map[string][]recording.Time
	rows   []recording.Row
}

func (k *taken) Sample(t recording.Time, name string, l recording.Labels, v float64) {
	key := recording.Series{Name: name, Labels: l}.Key()
	k.series[key] = append(k.series[key], v)
	k.at[key] = append(k.at[key], t)
}

func (k *taken) Append(row recording.Row) { k.rows = append(k.rows, row) }

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// lookAt reads files, each its name and its content, a line apart.
func lookAt(t *testing.T, files ...string) (*taken, reader.Told) {
	t.Helper()
	k := &taken{series: map[string][]float64{}, at: map[string][]recording.Time{}}
	var in []*reader.Input
	var o []reader.Options
	for i := 0; i+1 < len(files); i += 2 {
		in = append(in, reader.Bytes(files[i], []byte(files[i+1])))
		o = append(o, reader.Options{Zone: time.UTC, Modified: noon})
	}
	told, err := readSet(context.Background(), in, o, k)
	if err != nil {
		t.Fatal(err)
	}
	return k, told
}

func file(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (k *taken) want(t *testing.T, values map[string]float64) {
	t.Helper()
	for key, v := range values {
		if got := k.series[key]; len(got) == 0 || got[len(got)-1] != v {
			t.Errorf("%s: %v, want %v", key, got, v)
		}
	}
}

// Outputs of a Debian 12 host (net-tools 2.10, iproute2 6.1, ethtool 6.1, kernel 6.18)
// and, of cards that it has not, as their drivers' sources print them.
func TestOutputsAreRead(t *testing.T) {
	for _, x := range []struct {
		name string
		file string
		want map[string]float64
	}{
		{"netstat -s", "netstat-s", map[string]float64{
			"node_netstat_Udp_RcvbufErrors{}": 4469161, "node_netstat_Udp_InErrors{}": 4469161, "node_netstat_TcpExt_ListenOverflows{}": 100,
			"node_netstat_TcpExt_ListenDrops{}": 100, "node_netstat_Tcp_RetransSegs{}": 2894, "node_netstat_TcpExt_TCPRcvQDrop{}": 0,
			"node_netstat_TcpExt_TCPTSReorder{}": 56, "node_netstat_Ip_OutDiscards{}": 41}},
		{"nstat -az", "nstat-az", map[string]float64{"node_netstat_Udp_RcvbufErrors{}": 4469161, "node_netstat_TcpExt_ListenOverflows{}": 100, "node_netstat_Ip6_OutNoRoutes{}": 0}},
		{"nstat -j", "nstat-j", map[string]float64{"node_netstat_Udp_RcvbufErrors{}": 4469161, "node_netstat_TcpExt_ListenOverflows{}": 100}},
		{"ethtool -S eth0", "ethtool-S", map[string]float64{`node_ethtool_received_missed_errors{device="eth0"}`: 5120, `node_ethtool_received_no_dma_resources{device="eth0"}`: 5118}},
		{"tc -s qdisc", "tc-s", map[string]float64{
			`node_qdisc_drops_total{device="eth0",handle="8001:",kind="fq",parent="root"}`:            77,
			`snag_qdisc_flow_limit_drops_total{device="eth0",handle="8001:",kind="fq",parent="root"}`: 70,
			`node_qdisc_drops_total{device="eth1",handle="1:",kind="tbf",parent="root"}`:              12, `node_qdisc_backlog{device="eth1",handle="1:",kind="tbf",parent="root"}`: 14 << 10}},
		{"tc -j -s qdisc", "tc-j", map[string]float64{
			`node_qdisc_drops_total{device="eth0",handle="8001:",kind="fq",parent="root"}`:            77,
			`snag_qdisc_flow_limit_drops_total{device="eth0",handle="8001:",kind="fq",parent="root"}`: 70}},
		{"numastat -m", "numastat-m", map[string]float64{`node_memory_numa_MemFree{node="0"}`: 190.5 * (1 << 20), `node_memory_numa_Shmem{node="0"}`: 12000 * (1 << 20), `node_memory_numa_MemTotal{node="1"}`: 32768 * (1 << 20)}},
		{"numastat", "numastat", map[string]float64{`node_memory_numa_numa_foreign_total{node="0"}`: 512000, `node_memory_numa_numa_miss_total{node="1"}`: 512000}},
		{"/proc/net/softnet_stat", "softnet", map[string]float64{`node_softnet_dropped_total{cpu="1"}`: 0x1f4, `node_softnet_times_squeezed_total{cpu="0"}`: 4}},
		{"/proc/net/dev", "dev", map[string]float64{`node_network_receive_packets_total{device="eth0"}`: 96623, `node_network_transmit_drop_total{device="eth0"}`: 3}},
		{"conntrack -S", "conntrack-S", map[string]float64{"node_nf_conntrack_stat_drop{}": 1000, "node_nf_conntrack_stat_insert_failed{}": 3}},
	} {
		k, told := lookAt(t, x.name, file(t, x.file))
		if len(told.Doubts) > 1 { // the time is not told
			t.Errorf("%s: %q", x.name, told.Doubts)
		}
		k.want(t, x.want)
		if !told.Snapshot {
			t.Errorf("%s is not a snapshot", x.name)
		}
	}
}

func TestSettingsOfCards(t *testing.T) {
	k, told := lookAt(t,
		"ethtool_-i_eth0", "driver: ixgbe\nversion: 6.1.0-18-amd64\nfirmware-version: 0x800009e0\nexpansion-rom-version: \nbus-info: 0000:03:00.0\nsupports-statistics: yes\n",
		"ethtool_-g_eth0", "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nRX Mini:\tn/a\nRX Jumbo:\tn/a\nTX:\t\t4096\nCurrent hardware settings:\nRX:\t\t512\nRX Mini:\tn/a\nRX Jumbo:\tn/a\nTX:\t\t512\n",
		"ethtool_-l_eth0", "Channel parameters for eth0:\nPre-set maximums:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\t1\nCombined:\t63\nCurrent hardware settings:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\t1\nCombined:\t8\n",
		"ethtool_-c_eth0", "Coalesce parameters for eth0:\nAdaptive RX: off  TX: on\nstats-block-usecs: n/a\nrx-usecs: 1\nrx-frames: n/a\ntx-usecs: 0\n",
		"ethtool_-k_eth0", "Features for eth0:\nrx-checksumming: on\ngeneric-receive-offload: on\nlarge-receive-offload: off [fixed]\nntuple-filters: off\n",
		"ethtool_eth0", "Settings for eth0:\n\tSupported ports: [ FIBRE ]\n\tSpeed: 10000Mb/s\n\tDuplex: Full\n\tLink detected: yes\n")
	if len(k.rows) != 1 || len(told.Coverage) != 1 || told.Coverage[0].Probe != "nics.settings" {
		t.Fatalf("%d rows, coverage %+v", len(k.rows), told.Coverage)
	}
	n := k.rows[0].(recording.NIC)
	if n.Device != "eth0" || n.Driver != "ixgbe" || n.Bus != "0000:03:00.0" || *n.Speed != 10000 || n.Duplex != "full" {
		t.Errorf("%+v", n)
	}
	if *n.Rings.Rx != 512 || *n.Rings.RxMax != 4096 || n.Channels.Rx != nil || *n.Channels.Combined != 8 || *n.Channels.CombinedMax != 63 {
		t.Errorf("%+v %+v", n.Rings, n.Channels)
	}
	if *n.Coalesce.RxUsecs != 1 || n.Coalesce.RxFrames != nil || *n.Coalesce.AdaptiveRx || !*n.Coalesce.AdaptiveTx {
		t.Errorf("%+v", n.Coalesce)
	}
	if !n.Features["rx-gro"] || n.Features["rx-lro"] || len(n.Features) != 4 {
		t.Errorf("%v", n.Features)
	}
}

func TestSocketsOfSS(t *testing.T) {
	k, told := lookAt(t, "ss_-tiemn", file(t, "ss-tiemn"), "ss_-uamn", file(t, "ss-uamn"))
	var all []recording.Socket
	for _, r := range k.rows {
		all = append(all, r.(recording.Socket))
	}
	if len(all) != 4 {
		t.Fatalf("%d sockets: %+v", len(all), all)
	}
	if s := all[0]; s.State != "ESTABLISHED" || s.Local != "10.0.0.1:1935" || s.Remote != "10.0.0.2:40112" || s.RecvQ != 131072 || s.Inode != 20123 || s.Cookie != 0x1001 ||
		len(s.Owners) != 1 || s.Owners[0].Comm != `ng) "inx` && s.Owners[0].Comm != `ng) \"inx` || s.Owners[0].PID != 812 || s.RcvBuf != 131072 || s.Cong != "cubic" {
		t.Errorf("%+v", s)
	}
	if i := all[0].TCP; i == nil || i.RTT != 0.0505 || i.RTTVar != 0.02 || i.TotalRetrans != 5 || i.BytesReceived != 123456789 || i.Cwnd != 10 || i.Busy != 4.2 || i.RwndLimited != 3.1 || i.DeliveryRate != 12.5e6 || i.NotSent != 77 || i.SndMSS != 1448 {
		t.Errorf("%+v", i)
	}
	if s := all[1]; s.State != "LISTEN" || s.Local != "[::]:8080" || s.Remote != "" || s.RecvQ != 129 || s.SendQ != 128 || s.TCP != nil {
		t.Errorf("%+v", s)
	}
	if s := all[2]; s.Proto != "udp" || s.Local != "0.0.0.0:5004" || s.Remote != "" || s.Drops != 2874 || s.RcvBuf != 212992 || s.Rmem != 212000 {
		t.Errorf("%+v", s)
	}
	if s := all[3]; s.Local != "[fe80::1]:546" {
		t.Errorf("a zone stays in the address: %+v", s)
	}
	if len(told.Moments["sockets.diag"]) != 1 {
		t.Errorf("%v", told.Moments)
	}
}

func TestWhenItWasTaken(t *testing.T) {
	utc := func(text string) recording.Time {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return recording.Time(at.UnixNano())
	}
	meminfo := "MemTotal:  1 kB\nMemFree: 1 kB\n"
	for _, x := range []struct {
		what  string
		files []string
		want  recording.Time
	}{
		{"a date beside it", []string{"d/date", "Sat Nov 21 14:17:28 CET 2026\n", "d/meminfo", meminfo}, utc("2026-11-21T13:17:28Z")},
		{"the day first", []string{"d/date", "Sat 21 Nov 2026 02:17:28 PM UTC\n", "d/meminfo", meminfo}, utc("2026-11-21T14:17:28Z")},
		{"a zone of numbers", []string{"d/date", "2026-11-21T14:17:28+05:30\n", "d/meminfo", meminfo}, utc("2026-11-21T08:47:28Z")},
		{"seconds since 1970", []string{"d/date", "1795270648\n", "d/meminfo", meminfo}, 1795270648e9},
		{"a sosreport's", []string{"s/sos_commands/date/date", "Sat Nov 21 14:17:28 UTC 2026\n", "s/proc/meminfo", meminfo}, utc("2026-11-21T14:17:28Z")},
		{"in the name of the file", []string{"d/meminfo-20261121T141728Z", meminfo}, utc("2026-11-21T14:17:28Z")},
		{"in the name of the folder", []string{"2026-11-21_14-17-28/meminfo", meminfo}, utc("2026-11-21T14:17:28Z")},
		{"before it in the same file", []string{"all.txt", "# date\nSat Nov 21 14:17:28 UTC 2026\n# cat /proc/meminfo\n" + meminfo}, utc("2026-11-21T14:17:28Z")},
		{"the file's last change", []string{"d/meminfo", meminfo}, recording.Time(noon.UnixNano())},
	} {
		k, _ := lookAt(t, x.files...)
		if at := k.at["node_memory_MemTotal_bytes{}"]; len(at) != 1 || at[0] != x.want {
			t.Errorf("%s: %v, want %s", x.what, at, x.want.Wall())
		}
	}
}

// One file with the outputs of several commands at two times.
func TestCommandsInOneFile(t *testing.T) {
	k, told := lookAt(t, "collected.txt", `collected by hand
root@web1:~# date
Sat Nov 21 14:00:00 UTC 2026
root@web1:~# ethtool -S eth1
NIC statistics:
     rx_missed_errors: 10
root@web1:~# date
Sat Nov 21 14:01:00 UTC 2026
root@web1:~# ethtool -S eth1
NIC statistics:
     rx_missed_errors: 510
+ uname -a
Linux web1 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 x86_64 GNU/Linux
=== cat /proc/loadavg ===
0.50 0.40 0.30 1/123 4567
`)
	key := `node_ethtool_received_missed_errors{device="eth1"}`
	if v := k.series[key]; len(v) != 2 || v[1]-v[0] != 500 || k.at[key][1].Sub(k.at[key][0]) != time.Minute {
		t.Errorf("%v at %v", v, k.at[key])
	}
	if told.Host != "web1" || told.Machine.Kernel != "6.1.0-18-amd64" || len(told.Moments["nics.statistics"]) != 2 {
		t.Errorf("%+v", told)
	}
	k.want(t, map[string]float64{"node_load1{}": 0.5})
}

func TestAKernelLogIsPlacedByTheBoot(t *testing.T) {
	log := "[    0.000000] Linux version 6.1.0\n[12345.678901] nf_conntrack: nf_conntrack: table full, dropping packet\n[12346.000000] something else\n"
	k, told := lookAt(t, "d/date", "1795270648\n", "d/dmesg", log, "d/proc/stat", "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nbtime 1795258302\n")
	if told.Boot != 1795258302e9 || len(k.rows) != 1 {
		t.Fatalf("boot %d, %d rows, %q", told.Boot, len(k.rows), told.Doubts)
	}
	if e := k.rows[0].(recording.Event); e.Attrs["cause"] != "conntrack-full" || e.T != recording.Time(1795258302e9+12345678901000) {
		t.Errorf("%+v", e)
	}
	k, told = lookAt(t, "d/dmesg", log)
	if len(k.rows) != 0 || !strings.Contains(strings.Join(told.Doubts, " "), "nothing shows when that was") {
		t.Errorf("%d rows without a boot, %q", len(k.rows), told.Doubts)
	}
}

// Half of the counters is no measure of them: what is not there stands still for no one.
func TestAPartOfTheCountersIsNotAll(t *testing.T) {
	_, told := lookAt(t, "snmp", "Ip: Forwarding DefaultTTL InReceives\nIp: 1 64 5\nUdp: InDatagrams RcvbufErrors\nUdp: 1 2\n")
	if _, ok := told.Moments["host.netstat"]; ok {
		t.Error("/proc/net/snmp alone counts for /proc/net/netstat")
	}
}

func TestNothingIsTakenForAnother(t *testing.T) {
	for _, text := range []string{"", "hello\n", "12:00:01 read(3, \"\", 1) = 0\n", "Nov 21 14:17:28 web1 nginx[1]: date\n", "{\"kernel\": 1}", "cpu\n", "some avg\n", "1.2.3.4 - - [21/Nov/2026:14:17:28 +0000] \"GET / HTTP/1.1\" 200 1\n", "# a comment\nkey = value with words\n"} {
		if Sniff([]byte(text)) {
			t.Errorf("%q is taken for a snapshot", text)
		}
	}
	if !Named("d/proc/sys/net/core/rmem_max", []byte("212992\n")) || !Named("d/hostname", []byte("web1\n")) || Named("d/x", []byte("web1\n")) {
		t.Error("names do not say what they should")
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"netstat-s", "nstat-az", "nstat-j", "ethtool-S", "tc-s", "tc-j", "numastat-m", "numastat", "softnet", "dev", "conntrack-S", "ss-tiemn", "ss-uamn"} {
		b := file(f, name)
		f.Add("ethtool -S eth0", []byte(b[:min(len(b), 2000)]))
	}
	f.Add("x", []byte("# date\nSat Nov 21 14:17:28 CET 2026\n$ cat /proc/stat\ncpu  1 1 1 1\nbtime 5\n"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		k := &taken{series: map[string][]float64{}, at: map[string][]recording.Time{}}
		for i := range all { // whatever it is taken for
			l := newLook(k)
			l.zone = time.UTC
			all[i].read(l, item{path: name, command: name, data: data, t: 1})
			l.end()
		}
		Sniff(data)
		if _, err := readSet(context.Background(), []*reader.Input{reader.Bytes(name, data)}, []reader.Options{{Zone: time.UTC, Modified: noon}}, k); err != nil {
			t.Fatal(err)
		}
	})
}

// Files that lost their times: by the order in which they are given, and never as a
// growth what is a fall.
func TestFilesWithoutTheirTimes(t *testing.T) {
	at := func(n int) string {
		return strings.NewReplacer("5120", strconv.Itoa(n), "5118", strconv.Itoa(n), "96623000", strconv.Itoa(96623000+n), "154223772", strconv.Itoa(154223772+n)).Replace(file(t, "ethtool-S"))
	}
	key := `node_ethtool_received_missed_errors{device="eth0"}`
	k, told := lookAt(t, "1/ethtool_-S_eth0", at(100), "2/ethtool_-S_eth0", at(900))
	if v := k.series[key]; len(v) != 2 || v[0] != 100 || len(told.Moments["nics.statistics"]) != 2 || !strings.Contains(strings.Join(told.Doubts, "\n"), "a second later") {
		t.Errorf("%v, %v, %q", v, told.Moments, told.Doubts)
	}
	_, told = lookAt(t, "after/ethtool_-S_eth0", at(900), "before/ethtool_-S_eth0", at(100))
	if len(told.Moments["nics.statistics"]) != 1 || !strings.Contains(strings.Join(told.Doubts, "\n"), "lower in the later") {
		t.Errorf("%v, %q: a rate of counters that fell", told.Moments, told.Doubts)
	}
}

package baseline

import (
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/recording"
	"snag/recording/rectest"
)

func parse(t *testing.T, text string) *recording.Recording {
	t.Helper()
	c, err := rectest.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c.Recording
}

func names(a lab.Answer) string {
	var out []string
	for _, e := range a.Verdict {
		out = append(out, e.Suspect)
	}
	return strings.Join(out, " ")
}

func TestThresholds(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a minute's count is taken from ten seconds", "{\"seconds\": 10}\n-- samples --\nnode_netstat_Udp_RcvbufErrors{netns=\"7\"} 0+1x10\n", "udp-receive-buffer-full"},
		{"below", "{\"seconds\": 60}\n-- samples --\nnode_netstat_Udp_RcvbufErrors{netns=\"7\"} 0+0.16x60\n", ""},
		{"counted before the window", "{\"seconds\": 10}\n-- samples --\nnode_netstat_Udp_RcvbufErrors{netns=\"7\"} 900+0x10\n", ""},
		{"one sample is not growth", "{\"seconds\": 10}\n-- samples --\nnode_netstat_Udp_RcvbufErrors{netns=\"7\"} 900\n", ""},
		{"the loudest first, each once", "{\"seconds\": 10}\n-- samples --\nnode_netstat_Tcp_RetransSegs{netns=\"7\"} 0+2x10\n" +
			"node_netstat_TcpExt_ListenDrops{netns=\"7\"} 0+9x10\nnode_netstat_TcpExt_ListenOverflows{netns=\"8\"} 0+8x10\n", "listen-overflow packet-loss"},
	} {
		a, err := Thresholds(parse(t, "-- manifest --\n"+c.text))
		if err != nil || names(a) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, names(a), err, c.want)
		}
	}
}

func TestNetdata(t *testing.T) {
	seconds := func(n, samples string) string { return `{"seconds": ` + n + "}\n-- samples --\n" + samples + "\n" }
	for _, c := range []struct{ name, text, want string }{
		{"11 per second", seconds("10", `node_netstat_Udp_RcvbufErrors{netns="7"} 0+11x10`), "udp-receive-buffer-full"},
		{"10 per second are not above 10", seconds("10", `node_netstat_Udp_RcvbufErrors{netns="7"} 0+10x10`), ""},
		{"two accept queue overflows per second", seconds("10", `node_netstat_TcpExt_ListenOverflows 0+2x10`), "listen-overflow"},
		{"softnet is one chart for all CPUs", seconds("10", "node_softnet_dropped_total{cpu=\"0\"} 0+6x10\nnode_softnet_dropped_total{cpu=\"1\"} 0+6x10"), "softnet-backlog"},
		{"2 % of the packets, of enough", seconds("10", "node_network_transmit_drop_total{device=\"eth0\"} 0+2x10\nnode_network_transmit_packets_total{device=\"eth0\"} 0+100x10"), "qdisc-drop"},
		{"2 % of too few packets", seconds("10", "node_network_transmit_drop_total{device=\"eth0\"} 0+0.02x10\nnode_network_transmit_packets_total{device=\"eth0\"} 0+1x10"), ""},
		{"resets must be ten times the usual", seconds("10", `node_netstat_Tcp_OutRsts 0+40x10`), ""},
		{"51 resets per second", seconds("10", `node_netstat_Tcp_OutRsts 0+51x10`), "peer-reset"},
		{"busy CPUs", seconds("10", "node_cpu_seconds_total{cpu=\"0\",mode=\"user\"} 0+0.9x10\nnode_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 0+0.1x10"), "cpu-saturated"},
		{"nice time is not counted", seconds("10", "node_cpu_seconds_total{cpu=\"0\",mode=\"nice\"} 0+0.9x10\nnode_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 0+0.1x10"), ""},
		{"a full descriptor table", seconds("10", "") + "-- processes --\n{\"t\":\"0..10\",\"pid\":60,\"comm\":\"api\",\"state\":\"S\",\"fds\":64,\"fd_limit\":64}\n", "fd-limit"},
		{"a control group at its quota", seconds("10", `snag_cgroup_cpu_usage_seconds_total{cgroup="/web"} 0+0.2x10`) +
			"-- cgroups --\n{\"t\":0,\"path\":\"/web\",\"version\":2,\"quota_seconds\":0.02,\"period_seconds\":0.1}\n", "cpu-throttled"},
		{"little memory left", seconds("10", "node_memory_MemTotal_bytes 1000\nnode_memory_MemAvailable_bytes 90"), "swap"},
	} {
		a, err := Netdata(parse(t, "-- manifest --\n"+c.text))
		if err != nil || names(a) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, names(a), err, c.want)
		}
	}
}

// A rule that is raised stays so until it is not above its lower limit.
func TestHysteresis(t *testing.T) {
	r := parse(t, "-- manifest --\n{\"seconds\": 30}\n-- samples --\nx 0+1x30\n")
	for _, c := range []struct {
		values [3]float64 // after 10 s, 20 s and at the end
		want   bool
	}{
		{[3]float64{5, 5, 5}, false},
		{[3]float64{5, 5, 11}, true},
		{[3]float64{11, 5, 1}, true},
		{[3]float64{11, 0, 5}, false},
	} {
		n := 0
		up := rule{Name: "x", Every: 10 * time.Second, Warn: 10, Cause: "y", Value: func(*recording.Recording, recording.Time) []reading {
			n++
			return []reading{{key: "k", value: c.values[n-1]}}
		}}
		if got := up.raised(r); (len(got) == 1) != c.want {
			t.Errorf("%v: %v, want raised: %v", c.values, got, c.want)
		}
	}
}

func TestRulesNameCauses(t *testing.T) {
	for _, u := range netdataRules {
		if u.Cause == "" || u.File == "" || u.Every <= 0 || u.Value == nil {
			t.Errorf("rule %+v is not whole", u)
		}
	}
}

func TestTicks(t *testing.T) {
	r := parse(t, "-- manifest --\n{\"seconds\": 25}\n-- samples --\nx 0+1x25\n")
	if got := ticks(r, 10*time.Second); len(got) != 3 || got[2] != r.Manifest.End {
		t.Errorf("ticks %v, want after 10 s, 20 s and at the end", got)
	}
}

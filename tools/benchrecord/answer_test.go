package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// The samples are real output, shortened: of atop 2.8.1, sysstat 12.6.1, perf 6.1,
// netdata 1.37.1, below 0.9.0 and snag.
func sample(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestReaders(t *testing.T) {
	second := span{time.Unix(1795932286, 0), time.Unix(1795932287, 0)}
	chart := "http://127.0.0.1:19999/api/v1/data?after=1&chart=system.cpu_some_pressure"
	for _, c := range []struct {
		tool string
		in   []section
		want figures
		none string
	}{
		{"atop", []section{{"atop", sample(t, "atop.txt")}}, figures{
			"process netdata cpu":             3.5, // 7 ticks in one of two samples, its threads not twice
			"process netdata sectors written": 24040,
			"host cpu idle":                   (91 + 108) / 2.0,
			"host pressure cpu some":          (271226 + 262486) / 2.0,
			"host oom kills":                  0,
			"host retransmitted segments":     0,
			"host udp input errors":           0,
			"disk vda sectors written":        21096,
		}, "process apps.plugin cpu"}, // of another time
		{"sysstat", []section{{"sadf", sample(t, "sadf.txt")}}, figures{"all %idle": (47.72 + 51.76 + 45.88) / 3, "lo rxkB/s": 0, "%scpu": 59.5}, ""},
		{"perf", []section{{"perf --sort comm -i data.1", sample(t, "perf.txt")}, {"perf --sort comm,symbol -i data.1", "     0.97%  web server       [k] _raw_spin_unlock       -      -            \n"}}, figures{
			"host idle samples": 32.17, "process atop cpu samples": 3.15, "function of web server _raw_spin_unlock": 0.97,
		}, "process swapper cpu samples"},
		{"below", []section{{"below dump disk -b", sample(t, "below-disk.json")}, {"below dump system -b", sample(t, "below-system.json")}}, figures{
			"disk vda Write":            20.6 * (1 << 20) / 3,
			"disk vda Time Spend Write": 2294178 - 2294096, // ms
			"host Idle":                 (48.78 + 44.02) / 2,
			"host OOM Kills":            3,
		}, "host Timestamp"},
		{"netdata", []section{{chart, `{"labels":["time","some 10"],"data":[[100,1.5]]}`}, {chart + "2", "No metrics where matched to query."}}, figures{"system.cpu_some_pressure some 10": 1.5}, ""},
		{"node_exporter", []section{{"http://", `{"data":{"result":[
{"metric":{"__name__":"node_network_receive_bytes_total","job":"node","device":"eth0"},"values":[[10,"100"],[20,"300"]]},
{"metric":{"__name__":"node_netstat_TcpExt_ListenOverflows"},"values":[[10,"5"],[20,"5"]]},
{"metric":{"__name__":"node_load1"},"values":[[10,"2"],[20,"4"]]}]}}`}}, figures{
			`node_network_receive_bytes_total{device="eth0"}`: 20, "node_netstat_TcpExt_ListenOverflows{}": 0, "node_load1{}": 3,
		}, ""},
		{"ig", []section{
			{"trace_signal", `{"proc":{"comm":"backup-script"},"sig":"SIGSTOP","tpid":7}` + "\n"},
			{"top_process", `[{"comm":"media-relay","cpuUsage":2,"state":"S"}]` + "\n" + `[{"comm":"media-relay","cpuUsage":0,"state":"T"}]` + "\n"},
			{"top_cpu_throttle", `[{"cgroupPath":"/lab-web","nrThrottled":40}]` + "\n[]\n"},
			{"profile_cpu", `[{"proc":{"comm":"thread-server"},"samples":9,"kern_stack":"","user_stack_raw":{"symbols":"pthread_spin_lock; compute; "}}]` + "\n"},
		}, figures{
			"process backup-script sends SIGSTOP": 1, "process media-relay cpu": 1, "process media-relay state T": 0.5,
			"cgroup /lab-web throttled": 20, "function of thread-server pthread_spin_lock": 9,
		}, ""},
	} {
		// As they are kept.
		got, err := readers[c.tool](splitSections(joinSections(c.in)), second)
		if err != nil {
			t.Errorf("%s: %v", c.tool, err)
		}
		for name, want := range c.want {
			if v, ok := got.figures[name]; !ok || math.Abs(v-want) > 1e-6*max(1, want) {
				t.Errorf("%s: %s: got %v (%v), want %v", c.tool, name, v, ok, want)
			}
		}
		if _, ok := got.figures[c.none]; ok {
			t.Errorf("%s: %s was counted", c.tool, c.none)
		}
	}
}

func TestReadersOfSentences(t *testing.T) {
	from := time.Unix(1000, 0).UTC()
	alarms := `[{"name":"1m_tcp_accept_queue_overflows","chart":"ip.tcp_accept_queue","status":"WARNING","when":1020,"value_string":"3"},
{"name":"early","status":"WARNING","when":900},{"name":"good","status":"CLEAR","when":1020}]`
	got, err := readNetdata([]section{{"http://127.0.0.1/api/v1/alarm_log", alarms}}, span{from, from.Add(40 * time.Second)})
	if err != nil || len(got.causes) != 1 {
		t.Errorf("alarms of that time: got %v, %v, want one", got.causes, err)
	}
	a, err := readVerdict([]section{{"snag find", `{"symptoms":[{"name":"stream-freeze","subject":"media-relay[7]","text":"35 s of 37 s"}],
"verdict":[{"suspect":"process-stopped","state":"culprit","subject":"media-relay[7]","evidence":[{"side":"against","text":"no"},{"side":"for","text":"stopped (state T) at 54 samples"},{"side":"for","text":"SIGSTOP"}]},
{"suspect":"cpu-saturated","state":"cleared","subject":"the host"}]}`}}, span{})
	if err != nil || !slices.Equal(a.causes, []string{"process-stopped: media-relay[7]: stopped (state T) at 54 samples: SIGSTOP"}) || len(a.harm) != 1 {
		t.Errorf("got %+v, %v", a, err)
	}
}

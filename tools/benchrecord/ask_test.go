package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The samples are real output, shortened: of atop 2.8.1, sysstat 12.6.1, perf 6.1,
// netdata 1.37.1, below 0.9.0 and snag.
func sample(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wantFigures(t *testing.T, got figures, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		g, ok := got[name]
		if !ok || math.Abs(g-v) > 1e-6*max(1, math.Abs(v)) {
			t.Errorf("%s: got %v (%v), want %v", name, g, ok, v)
		}
	}
}

func TestParseAtop(t *testing.T) {
	f := parseAtop(sample(t, "atop.txt"), span{time.Unix(1795932286, 0), time.Unix(1795932287, 0)})
	wantFigures(t, f, map[string]float64{
		"process netdata cpu":             3.5, // 7 ticks in one of two samples, its threads not twice
		"process netdata sectors written": 24040,
		"process perf state S":            0.5,
		"host cpu idle":                   (91 + 108) / 2.0,
		"host pressure cpu some":          (271226 + 262486) / 2.0,
		"host oom kills":                  0,
		"disk vda sectors written":        21096,
	})
	if _, ok := f["process apps.plugin cpu"]; ok {
		t.Error("apps.plugin is of another time, and was counted")
	}
}

func TestParseSadf(t *testing.T) {
	wantFigures(t, parseSadf(sample(t, "sadf.txt")), map[string]float64{"all %idle": (47.72 + 51.76 + 45.88) / 3, "lo rxkB/s": 0, "%scpu": 59.5})
}

func TestPerfReport(t *testing.T) {
	f := figures{}
	f.perf(sample(t, "perf.txt"))
	wantFigures(t, f, map[string]float64{"host idle samples": 32.17, "process atop cpu samples": 3.15})
}

func TestBelowDump(t *testing.T) {
	f := figures{}
	if err := f.below("disk", sample(t, "below-disk.json")); err != nil {
		t.Fatal(err)
	}
	if err := f.below("system", sample(t, "below-system.json")); err != nil {
		t.Fatal(err)
	}
	wantFigures(t, f, map[string]float64{
		"disk vda Write":            20.6 * (1 << 20) / 3,
		"disk vda Time Spend Write": 2294178 - 2294096, // ms
		"host Idle":                 (48.78 + 44.02) / 2,
		"host OOM Kills":            3,
	})
}

func TestNetdata(t *testing.T) {
	one := 1.5
	f := figures{}
	netdataData{Labels: []string{"time", "some 10"}, Data: [][]*float64{{&one, &one}}}.add(f, "system.cpu_some_pressure")
	wantFigures(t, f, map[string]float64{"system.cpu_some_pressure some 10": 1.5})
	from := time.Unix(1000, 0)
	got := raised([]netdataAlarm{
		{Name: "1m_tcp_accept_queue_overflows", Chart: "ip.tcp_accept_queue", Status: "WARNING", When: 1020},
		{Name: "early", Status: "WARNING", When: 900},
		{Name: "good", Status: "CLEAR", When: 1020},
	}, span{from, from.Add(40 * time.Second)})
	if len(got) != 1 {
		t.Errorf("alarms of that time: got %v, want one", got)
	}
}

func TestMatrix(t *testing.T) {
	var m matrix
	series := func(name string, values ...[2]any) {
		m.Data.Result = append(m.Data.Result, struct {
			Metric map[string]string
			Values [][2]any
		}{map[string]string{"__name__": name, "job": "node", "device": "eth0"}, values})
	}
	series("node_network_receive_bytes_total", [2]any{10.0, "100"}, [2]any{20.0, "300"})
	series("node_netstat_TcpExt_ListenOverflows", [2]any{10.0, "5"}, [2]any{20.0, "5"})
	series("node_load1", [2]any{10.0, "2"}, [2]any{20.0, "4"})
	wantFigures(t, m.figures(), map[string]float64{
		`node_network_receive_bytes_total{device="eth0"}`: 20, `node_netstat_TcpExt_ListenOverflows{device="eth0"}`: 0, `node_load1{device="eth0"}`: 3,
	})
}

func TestParseVerdict(t *testing.T) {
	a, err := parseVerdict([]byte(`{"symptoms":[{"name":"stream-freeze","subject":"media-relay[7]","text":"35 s of 37 s"}],
"verdict":[{"suspect":"process-stopped","state":"culprit","subject":"media-relay[7]","evidence":[{"side":"against","text":"no"},{"side":"for","text":"stopped (state T) at 54 samples"}]},
{"suspect":"cpu-saturated","state":"cleared","subject":"the host"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Said) != 1 || a.Said[0] != "process-stopped: media-relay[7]: stopped (state T) at 54 samples" || len(a.Harm) != 1 {
		t.Errorf("got %+v", a)
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"snag/fleet/remotewrite"
	"snag/recorder"
	"snag/recording"
)

// What a recorder serves: services as remote write sends them, with one histogram each, and the incident that goes on.
func TestScrapeOfServices(t *testing.T) {
	t.Parallel()
	at := recording.Time(time.Now().UnixNano())
	scrape := remotewrite.NewScrape(remotewrite.DefaultSeries)
	hist := make([]uint64, 21)
	hist[20] = 8
	scrape.Append(recording.Turns{T: at, Role: "serve", Local: "0.0.0.0:80", Comm: "nginx", N: 8, Sum: 0.25, Open: 3, Oldest: 7, Hist: hist})
	scrape.Append(recording.Turns{T: at, Role: "call", Remote: "10.0.0.3:5432", Comm: "app", N: 4, Sum: 0.2})
	scrape.Sample(at, "snag_stream_gap_seconds", recording.Labels{"stream": "live/a"}, 0.04)
	now := recorder.Status{Incident: recorder.Incident{ID: 7, Start: time.Unix(1795976155, 0), Finding: recorder.Finding{Culprits: []recorder.Named{{Name: "runtime-pause", Subject: "java[77]"}}}}}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(healthMetrics{h: &recorder.Health{}, series: func() []remotewrite.Measured {
		twice := append(incidentSeries(now.Incident), incidentSeries(now.Incident)...) // must not end the scrape
		return append(twice, scrape.Now(at)...)
	}})
	want := `
# HELP snag_dependency_answers_total Answers of a server that a process of this host asks.
# TYPE snag_dependency_answers_total counter
snag_dependency_answers_total{process="app",server="10.0.0.3:5432"} 4
# HELP snag_incident_culprit A culprit of the incident that goes on; its value is its place in the verdict.
# TYPE snag_incident_culprit gauge
snag_incident_culprit{subject="java[77]",suspect="runtime-pause"} 1
# HELP snag_service_answer_seconds How long answers of a service took, from the whole request.
# TYPE snag_service_answer_seconds histogram
snag_service_answer_seconds_bucket{listener="0.0.0.0:80",process="nginx",le="0.001024"} 0
snag_service_answer_seconds_bucket{listener="0.0.0.0:80",process="nginx",le="0.002048"} 0
snag_service_answer_seconds_bucket{listener="0.0.0.0:80",process="nginx",le="0.004096"} 0
snag_service_answer_seconds_bucket{listener="0.0.0.0:80",process="nginx",le="0.008192"} 0
snag_service_answer_seconds_bucket{listener="0.0.0.0:80",process="nginx",le="0.016384"} 0
snag_service_answer_seconds_bucket{listener="0.0.0.0:80",process="nginx",le="0.032768"} 8
snag_service_answer_seconds_bucket{listener="0.0.0.0:80",process="nginx",le="0.065536"} 8
snag_service_answer_seconds_bucket{listener="0.0.0.0:80",process="nginx",le="0.131072"} 8
snag_service_answer_seconds_bucket{listener="0.0.0.0:80",process="nginx",le="0.262144"} 8
snag_service_answer_seconds_bucket{listener="0.0.0.0:80",process="nginx",le="0.524288"} 8
snag_service_answer_seconds_bucket{listener="0.0.0.0:80",process="nginx",le="1.048576"} 8
snag_service_answer_seconds_bucket{listener="0.0.0.0:80",process="nginx",le="2.097152"} 8
snag_service_answer_seconds_bucket{listener="0.0.0.0:80",process="nginx",le="4.194304"} 8
snag_service_answer_seconds_bucket{listener="0.0.0.0:80",process="nginx",le="8.388608"} 8
snag_service_answer_seconds_bucket{listener="0.0.0.0:80",process="nginx",le="+Inf"} 8
snag_service_answer_seconds_sum{listener="0.0.0.0:80",process="nginx"} 0.25
snag_service_answer_seconds_count{listener="0.0.0.0:80",process="nginx"} 8
# HELP snag_service_open_requests Requests to a service that have no answer yet.
# TYPE snag_service_open_requests gauge
snag_service_open_requests{listener="0.0.0.0:80",process="nginx"} 3
# HELP snag_stream_gap_seconds A series of the recording (docs/recording.md).
# TYPE snag_stream_gap_seconds gauge
snag_stream_gap_seconds{stream="live/a"} 0.04
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "snag_dependency_answers_total", "snag_incident_culprit", "snag_service_answer_seconds", "snag_service_open_requests", "snag_stream_gap_seconds"); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// Every name that a sender makes of services has its own help.
func TestHelpOfSeries(t *testing.T) {
	t.Parallel()
	scrape := remotewrite.NewScrape(remotewrite.DefaultSeries)
	scrape.Append(recording.Turns{Role: "serve", Local: "0.0.0.0:80", Comm: "nginx", N: 8})
	scrape.Append(recording.Turns{Role: "call", Remote: "10.0.0.3:5432", Comm: "app", N: 4})
	for _, m := range scrape.Now(0) {
		if seriesHelp[strings.TrimSuffix(m.Name, bucketSuffix)] == "" {
			t.Errorf("%s has no help", m.Name)
		}
	}
}

func TestFlagsOfInflux(t *testing.T) {
	t.Parallel()
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	const url = "http://127.0.0.1:8086/api/v2/write?org=a&bucket=b"
	note := func(string) {}
	ring := t.TempDir()
	f := writeFlags{format: remotewrite.Influx, url: url, series: 3000, token: file("s3cret\n"), labels: []string{"role=edge"}}
	if err := f.check(ring, nil, note); err != nil || f.sender == nil {
		t.Fatal(err)
	}
	if h, err := f.allHeaders(); err != nil || h.Get("Authorization") != "Token s3cret" {
		t.Errorf("%v, %v", h, err)
	}
	if c := f.counted(); len(c) != 5 || c[0].name != "snag_influx_sent_total" {
		t.Errorf("%v", c)
	}
	for want, f := range map[string]writeFlags{
		"with --influx":                 {token: "x"},
		"--influx-series 5":             {url: url, series: 5},
		"one line, the token":           {url: url, series: 3000, token: file("a\nb")},
		"read the token":                {url: url, series: 3000, token: "/nowhere/token"},
		"give one of them":              {url: url, series: 3000, token: file("a"), headers: []string{"Authorization: Token b"}},
		`--influx-label "role"`:         {url: url, series: 3000, labels: []string{"role"}},
		"--influx: no path":             {url: "http://127.0.0.1:8086/x", series: 3000},
		"--influx-header: not a header": {url: url, series: 3000, headers: []string{"x"}},
	} {
		f.format = remotewrite.Influx
		if err := f.check(ring, nil, note); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

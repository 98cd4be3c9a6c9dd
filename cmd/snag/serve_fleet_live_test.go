package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/internal/built"
	"snag/serve/pages"
)

// theStorm are four hours of three hosts as Prometheus imports them: an edge waits for an origin, whose JVM stops, as
// it did three hours ago; another edge sends nothing for ten minutes.
func theStorm(now time.Time) string {
	var out strings.Builder
	put := func(series string, value int64, from, to time.Duration) {
		for at := now.Add(-from); at.Before(now.Add(-to)); at = at.Add(15 * time.Second) {
			fmt.Fprintf(&out, "%s %d %d\n", series, value, at.Unix())
		}
	}
	const always, ahead = 4 * time.Hour, -10 * time.Minute // later than now, as the test takes its time
	put(`snag_record_up{instance="edge-1",role="edge"}`, 1, always, ahead)
	put(`snag_record_up{instance="edge-2",role="edge"}`, 1, always, 10*time.Minute)
	put(`snag_record_up{instance="origin-3",role="origin"}`, 1, always, ahead)
	put(`snag_host_address{instance="edge-1",address="10.0.1.1"}`, 1, always, ahead)
	put(`snag_host_address{instance="origin-3",address="10.0.0.3"}`, 1, always, ahead)
	begin := func(ago time.Duration) int64 { return now.Add(-ago).Unix() }
	put(`snag_incident_begin_timestamp_seconds{instance="edge-1"}`, begin(5*time.Minute), 5*time.Minute, ahead)
	put(`snag_incident_begin_timestamp_seconds{instance="origin-3"}`, begin(3*time.Hour), 3*time.Hour, 170*time.Minute)
	put(`snag_incident_begin_timestamp_seconds{instance="origin-3"}`, begin(6*time.Minute), 6*time.Minute, ahead)
	put(`snag_incident_culprit{instance="edge-1",suspect="slow-dependency",subject="peer 10.0.0.3:8080",beyond="10.0.0.3:8080"}`, 1, 5*time.Minute, ahead)
	put(`snag_incident_culprit{instance="origin-3",suspect="runtime-pause",subject="java[77]"}`, 1, 3*time.Hour, 170*time.Minute)
	put(`snag_incident_culprit{instance="origin-3",suspect="runtime-pause",subject="java[77]"}`, 1, 6*time.Minute, ahead)
	put(`snag_incident_symptom{instance="edge-1",symptom="request-latency",subject="nginx[7]"}`, 1, 5*time.Minute, ahead)
	return out.String() + "# EOF\n"
}

// prometheusWith starts a real Prometheus that has samples, as OpenMetrics writes them, and returns its URL. What it
// keeps is in dir.
func prometheusWith(t *testing.T, dir, samples string) string {
	t.Helper()
	prometheus, err := exec.LookPath("prometheus")
	promtool, err2 := exec.LookPath("promtool")
	if err != nil || err2 != nil {
		t.Skip("no prometheus or promtool: make setup installs Debian's")
	}
	file := filepath.Join(dir, "samples")
	if err := os.WriteFile(file, []byte(samples), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool, "tsdb", "create-blocks-from", "openmetrics", file, filepath.Join(dir, "tsdb")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return prometheusAt(t, prometheus, dir, loopback(t), "{}\n")
}

// The page of many hosts from a real Prometheus, without a ring and without root's rights.
func TestServeFleet(t *testing.T) {
	dir := t.TempDir()
	store := prometheusWith(t, dir, theStorm(time.Now()))
	snag := filepath.Join(dir, "snag")
	built.Program(t, "snag", snag)
	at, file := loopback(t), filepath.Join(dir, "token")
	line := served(t, snag, "--listen", at, "--ring", filepath.Join(dir, "none"), "--token-file", file, "--fleet", store, "--links", "https://{address}:9849", "--hosts-from", "static:edge-1,edge-9")
	if !strings.Contains(line, "http://"+at+"/fleet") {
		t.Error(line)
	}
	token, err := pages.Token(file)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: withToken(token)}
	resp, err := client.Get("http://" + at + "/fleet.json")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var d servedFleet
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	d.check(t, string(b))
}

// servedFleet is what the test reads of /fleet.json.
type servedFleet struct {
	Standing, Failed string
	Causes           []struct {
		Host, Suspect string
		Victims       []struct {
			Host string
			Way  []struct{ To, Server string }
		}
	}
	Hosts    []struct{ Name, State string }
	Timeline struct {
		Rows []struct {
			Host, Suspect string
			Incidents     []struct{ Start, End time.Time }
		}
		Seen []int
	}
	Links     map[string]string
	Discovery struct{ Missing []struct{ Name string } }
}

func (d *servedFleet) check(t *testing.T, text string) {
	t.Helper()
	if d.Standing != "culprit" || d.Failed != "" || len(d.Causes) != 1 || d.Causes[0].Host != "origin-3" || d.Causes[0].Suspect != "runtime-pause" || len(d.Causes[0].Victims) != 2 {
		t.Fatal(text)
	}
	if v := d.Causes[0].Victims[0]; v.Host != "edge-1" || len(v.Way) != 1 || v.Way[0].To != "origin-3" || v.Way[0].Server != "10.0.0.3:8080" {
		t.Errorf("%+v", v)
	}
	if fmt.Sprint(d.Hosts) != "[{edge-1 affected} {edge-2 gone} {origin-3 affected}]" || fmt.Sprint(d.Discovery.Missing) != "[{edge-9}]" {
		t.Errorf("%v %v", d.Hosts, d.Discovery.Missing)
	}
	if d.Links["origin-3"] != "https://10.0.0.3:9849" || d.Links["edge-2"] != "" {
		t.Errorf("%v", d.Links)
	}
	rows := d.Timeline.Rows
	if len(rows) != 2 || rows[1].Host != "origin-3" || rows[1].Suspect != "runtime-pause" || len(rows[1].Incidents) != 2 {
		t.Fatalf("%+v", rows)
	}
	now, past := rows[1].Incidents[0], rows[1].Incidents[1]
	if took := past.End.Sub(past.Start); !now.End.IsZero() || took < 9*time.Minute || took > 16*time.Minute {
		t.Errorf("%+v", rows[1].Incidents)
	}
	if seen := d.Timeline.Seen; len(seen) != 288 || seen[100] != 0 || seen[287-20] != 3 {
		t.Errorf("%v", seen)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"snag/lab/origin"
	"snag/tools/dashboards/expressions"
)

// What the dashboards and the alerts ask for is what a real recorder and a real watch send to a real Prometheus, during
// an incident: each metric is there, with each label, and Prometheus answers each expression. Who scrapes the recorder
// has all of snag's own that remote write sends.
func TestDashboardsAskForWhatIsSent(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: the recorder can't measure")
	}
	prometheus, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("no prometheus: make setup installs Debian's")
	}
	dir, snag, server, here := aloneAtServer(t)
	if !here {
		return
	}
	influx := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer influx.Close()
	store := startPrometheus(t, prometheus, dir)
	film := beside(t, slices.Concat([]string{"ffmpeg", "-nostdin", "-loglevel", "quiet", "-re", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-re", "-f", "lavfi", "-i", "sine"},
		inH264, []string{"-c:a", "aac", "-threads", "1", "-g", "50", "-pix_fmt", "yuv420p", "-t", "120", "-f", "flv", origin.URL(server, "stops")})...)
	within(t, "the film is published", func() bool {
		text, _ := exec.Command(snag, "watch", "--plain", "--for", "2s", origin.URL(server, "stops")).Output() // it exits 10 if it is not
		return strings.Contains(string(text), "first frame after")
	})
	record, watch := filepath.Join(dir, "record.log"), filepath.Join(dir, "watch.log")
	started(t, exec.Command(snag, "record", "--own-netns", "--ring", filepath.Join(dir, "ring"), "--stream", origin.URL(server, "stops"), "--listen", "127.0.0.1:9848",
		"--remote-write", store+"/api/v1/write", "--influx", influx.URL+"/write?db=snag"), record)
	started(t, exec.Command(snag, "watch", "--plain", "--listen", "127.0.0.1:9847", origin.URL(server, "stops")), watch)
	waitFor := func(what string, exprs ...string) {
		t.Helper()
		for end := time.Now().Add(80 * time.Second); len(exprs) > 0; time.Sleep(time.Second) {
			exprs = slices.DeleteFunc(exprs, func(e string) bool { return len(answered(t, store, e)) > 0 })
			if time.Now().After(end) {
				t.Fatalf("%s: there is no %s; the recorder: %s\nthe watch: %s", what, exprs, logged(record), logged(watch))
			}
		}
	}
	waitFor("the stream is read", `snag_stream_gap_seconds{job="snag"}`, `snag_stream_gap_seconds{job="recorder"}`, `snag_stream_up{job="watch"} == 1`)
	if err := film.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	waitFor("an incident", `snag_incident_culprit{job="snag"}`, `snag_incident_culprit{job="recorder"}`, `snag_probe_lost_events_total{job="snag"}`, `snag_probe_up{job="recorder"}`)
	if err := film.Process.Signal(syscall.SIGCONT); err != nil {
		t.Error(err)
	}
	compareWithSent(t, store, everyExpression(t))
	scraped := seriesOf(t, store, `{job="recorder"}`)
	for name := range seriesOf(t, store, `{job="snag"}`) {
		// Only who sends has a store whose clock it can compare its own with.
		if _, is := scraped[name]; !is && strings.HasPrefix(name, "snag_") && !strings.HasPrefix(name, "snag_clock_") {
			t.Errorf("%s is sent by --remote-write and not served by --listen", name)
		}
	}
}

// mayBeEmpty are labels of streams that only layers and passive reading have: Prometheus keeps no empty label.
var mayBeEmpty = map[string]bool{"layer": true, "side": true}

// compareWithSent has each expression answered, and looks for each metric and label of it.
func compareWithSent(t *testing.T, store string, asked []expressions.Expression) {
	t.Helper()
	sent := seriesOf(t, store, `{job=~"snag|recorder|watch"}`)
	for _, e := range asked {
		for _, u := range usesOf(t, e) {
			labels, is := sent[u.Name]
			if !is {
				t.Errorf("%s: nobody sends %s", e.Where, u.Name)
			}
			for _, l := range u.Labels {
				if is && !labels[l] && !mayBeEmpty[l] {
					t.Errorf("%s: %s has no label %s, it has %v", e.Where, u.Name, l, slices.Sorted(maps.Keys(labels)))
				}
			}
		}
		n := len(answered(t, store, strings.NewReplacer(`"web1"`, `".*"`, `"live/a"`, `".*"`).Replace(e.Text)))
		t.Logf("%3d series: %s", n, e.Where)
	}
}

func logged(path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

// everyExpression has all of the dashboards and of the alerts.
func everyExpression(t *testing.T) []expressions.Expression {
	t.Helper()
	all, err := expressions.Dashboards("../../packaging/grafana")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := expressions.Rules("../../packaging/prometheus/snag.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		all = append(all, expressions.Expression{Where: r.Alert, Text: r.Expr})
	}
	if len(all) < 50 {
		t.Fatalf("only %d expressions", len(all))
	}
	return all
}

// startPrometheus takes remote writes, and scrapes a recorder and a watch.
func startPrometheus(t *testing.T, program, dir string) (at string) {
	t.Helper()
	return prometheusAt(t, program, dir, "127.0.0.1:9090", "global: {scrape_interval: 2s}\nscrape_configs:\n"+
		"- {job_name: recorder, static_configs: [{targets: ['127.0.0.1:9848']}]}\n- {job_name: watch, static_configs: [{targets: ['127.0.0.1:9847']}]}\n")
}

// prometheusAt runs a Prometheus until the test ends. What it has is in dir/tsdb.
func prometheusAt(t *testing.T, program, dir, address, config string) (at string) {
	t.Helper()
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	started(t, exec.Command(program, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "tsdb"), "--web.listen-address="+address, "--web.enable-remote-write-receiver"),
		filepath.Join(dir, "prometheus.log"))
	at = "http://" + address
	within(t, "Prometheus answers", func() bool {
		resp, err := http.Get(at + "/-/ready")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return at
}

// started runs a program until the test ends.
func started(t *testing.T, cmd *exec.Cmd, log string) {
	t.Helper()
	f, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd.Stdout, cmd.Stderr = f, f
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
}

// fromStore gets what an address of Prometheus' API has.
func fromStore[T any](t *testing.T, at string, values url.Values) (out T) {
	t.Helper()
	resp, err := http.Get(at + "?" + values.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%s: %s, %v: %s", values, resp.Status, err, b)
		return out
	}
	var answer struct{ Data T }
	if err := json.Unmarshal(b, &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Data
}

// answered are the series of an expression now.
func answered(t *testing.T, store, expr string) []any {
	t.Helper()
	return fromStore[struct{ Result []any }](t, store+"/api/v1/query", url.Values{"query": {expr}}).Result
}

// seriesOf are the labels of each metric.
func seriesOf(t *testing.T, store, match string) map[string]map[string]bool {
	t.Helper()
	out := map[string]map[string]bool{}
	start := fmt.Sprint(time.Now().Add(-10 * time.Minute).Unix())
	for _, one := range fromStore[[]map[string]string](t, store+"/api/v1/series", url.Values{"match[]": {match}, "start": {start}}) {
		name := one["__name__"]
		if out[name] == nil {
			out[name] = map[string]bool{}
		}
		for l := range one {
			out[name][l] = true
		}
	}
	return out
}

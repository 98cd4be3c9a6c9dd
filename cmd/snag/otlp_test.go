package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"snag/internal/otlp"
	"snag/recorder"
	"snag/recording/rectest"
	"snag/verdict"
)

// sink is a collector that keeps what it gets. That the form is right is tested in internal/otlp.
type sink struct {
	*httptest.Server
	mu   sync.Mutex
	got  []sunk
	auth string
}

type sunk struct{ path, body string }

func newSink(t *testing.T) *sink {
	t.Helper()
	s := &sink{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.got, s.auth = append(s.got, sunk{r.URL.Path, string(body)}), r.Header.Get("Authorization")
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *sink) has(path string, words ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.got {
		all := g.path == path
		for _, w := range words {
			all = all && strings.Contains(g.body, w)
		}
		if all {
			return true
		}
	}
	return false
}

func judged(t *testing.T, name string) *verdict.Verdict {
	t.Helper()
	c, err := rectest.Load("../../suspects/testdata/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	return verdict.Judge(c.Recording)
}

// attrsOf are the attributes of a log record by name, as JSON.
func attrsOf(t *testing.T, l otlp.Log) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, a := range l.Attrs {
		b, err := json.Marshal(a.Value)
		if err != nil {
			t.Fatal(err)
		}
		out[a.Key] = string(b)
	}
	return out
}

func TestAVerdictAsALogRecord(t *testing.T) {
	t.Parallel()
	v := judged(t, "udp-receive-buffer-full/guilty")
	l := verdictLog(v, time.Now())
	a := attrsOf(t, l)
	if l.Severity != otlp.Error || l.Event != "snag.verdict" || !l.Time.Equal(v.Recording.Manifest.End.Wall()) || !strings.Contains(l.Body, "ffmpeg[812]") || strings.Contains(l.Body, "\n") {
		t.Errorf("%+v", l)
	}
	for key, want := range map[string]string{"snag.standing": `"culprit"`, "snag.suspect": `"udp-receive-buffer-full"`, "snag.subject": "ffmpeg[812]", "process.pid": `{"intValue":"812"}`, "snag.harm": "stringValue"} {
		if !strings.Contains(a[key], want) {
			t.Errorf("%s: %s", key, a[key])
		}
	}
	found := map[verdict.Standing]bool{}
	for _, file := range []string{"udp-receive-buffer-full/innocent-few", "reconnect-storm/innocent-deploy", "encoder-stall/innocent-first-frame", "disk-stall/innocent-unfelt", "disk-stall/innocent-brief", "udp-receive-buffer-full/blind", "disk-stall/blind", "encoder-stall/blind"} {
		v := judged(t, file)
		standing := v.Standing()
		if standing == verdict.Found {
			continue
		}
		found[standing] = true
		want := otlp.Warn
		if standing == verdict.Well {
			want = otlp.Info
		}
		if l := verdictLog(v, time.Now()); l.Severity != want || l.Body == "" || attrsOf(t, l)["snag.suspect"] != "" {
			t.Errorf("%s: %+v", file, l)
		}
	}
	if !found[verdict.Well] || len(found) < 2 {
		t.Errorf("only %v were seen", found)
	}
}

var hurtNginx = recorder.Incident{
	ID: 7, Start: time.Date(2026, 11, 28, 14, 17, 28, 0, time.UTC), Noticed: "nginx: answers take 5.1 times as long as usual", Judgements: 2,
	Finding: recorder.Finding{Standing: "culprit", Hurt: true, Culprits: []recorder.Named{{Name: "disk-stall", Subject: "vda", Text: "busy", Harm: "12 s of waiting"}}, Symptoms: []recorder.Named{{Name: "request-latency", Subject: "nginx", Text: "slow"}}},
}

func TestAnIncidentAsALogRecord(t *testing.T) {
	t.Parallel()
	i := hurtNginx
	begins := incidentLog(i, recorder.Begins, "/ring/7.snag", time.Now())
	a := attrsOf(t, begins)
	if begins.Severity != otlp.Error || begins.Event != "snag.incident.begins" || !begins.Time.Equal(i.Start) || !strings.HasPrefix(begins.Body, "incident 7 begins: nginx") {
		t.Errorf("%+v", begins)
	}
	for key, want := range map[string]string{"snag.incident.id": `{"intValue":"7"}`, "snag.suspect": `"disk-stall"`, "snag.subject": `"vda"`, "snag.harm": "12 s", "snag.standing": "culprit", "snag.recording": "/ring/7.snag", "snag.noticed": "5.1 times"} {
		if !strings.Contains(a[key], want) {
			t.Errorf("%s: %s", key, a[key])
		}
	}
	i.End, i.Culprits = i.Start.Add(90*time.Second), nil
	ends := incidentLog(i, recorder.Ends, "", time.Now())
	if a := attrsOf(t, ends); ends.Severity != otlp.Info || ends.Event != "snag.incident.ends" || !ends.Time.Equal(i.End) || a["snag.incident.duration"] != `{"doubleValue":90}` || a["snag.suspect"] != "" || a["snag.symptom"] != `{"stringValue":"request-latency"}` {
		t.Errorf("%+v", ends)
	}
	i.Hurt = false
	if l := incidentLog(i, recorder.Begins, "", time.Now()); l.Severity != otlp.Warn {
		t.Errorf("nobody is hurt: %d", l.Severity)
	}
}

// What --otlp sends is what /metrics serves, by the same names; parties are bounded.
func TestMetricsOverOTLP(t *testing.T) {
	t.Parallel()
	f := recorder.Status{Recording: true, Incident: hurtNginx, Incidents: 2, Known: []string{"live/cam1"}, Size: 5, Oldest: hurtNginx.Start}
	for i := range 30 {
		f.Incident.Symptoms = append(f.Incident.Symptoms, recorder.Named{Subject: fmt.Sprint("party ", i)})
	}
	parties, by := 0, map[string]otlp.Metric{}
	for _, m := range otlpMetrics(recorderMetrics(f, counted(&otlp.Sender{}))) {
		by[m.Name] = m
		if m.Name == "snag_party_hurt" {
			parties++
		}
	}
	if parties != mostParties || by["snag_verdict_hurt"].Value != 1 || by["snag_incidents_total"].Value != 2 || !by["snag_incidents_total"].Counter || by["snag_ring_bytes"].Unit != "By" || by["snag_verdict_hurt"].Unit != "" {
		t.Errorf("%d parties, %+v", parties, by)
	}
	if _, ok := by["snag_otlp_dropped_records_total"]; !ok {
		t.Error("what is lost is not counted")
	}
}

func TestARecordersReportsAreSent(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	file := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(file, []byte("Authorization: Bearer s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := recordFlags{ring: "/ring", otlp: otlpFlags{endpoint: s.URL, headers: []string{"@" + file}}}
	r, err := f.reporter()
	if err != nil {
		t.Fatal(err)
	}
	r.note = func(string) {}
	var plan recorder.Plan
	if err := f.publish(t.Context(), &plan, r); err != nil || plan.Health == nil {
		t.Fatal(err)
	}
	r.report(t.Context(), hurtNginx, recorder.Begins)
	i := hurtNginx
	i.End = i.Start.Add(time.Minute)
	r.report(t.Context(), i, recorder.Ends)
	for end := time.Now().Add(10 * time.Second); !s.has("/v1/metrics") && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
	}
	r.end()
	if !s.has("/v1/logs", `"snag.incident.begins"`, `"service.name"`, `"host.name"`, `"os.type"`) || !s.has("/v1/logs", `"snag.incident.ends"`) || !s.has("/v1/metrics", `"snag_verdict_hurt"`) || s.auth != "Bearer s3cret" {
		t.Errorf("%q, %+v", s.auth, s.got)
	}
}

func TestAVerdictIsSentOnRequestOnly(t *testing.T) {
	s := newSink(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	v := judged(t, "udp-receive-buffer-full/guilty")
	var none *otlpFlags
	for _, f := range []*otlpFlags{none, {}} {
		if err := f.check(); err != nil {
			t.Error(err)
		}
		if err := f.sendVerdict(t.Context(), v); err != nil || len(s.got) > 0 {
			t.Errorf("%v, %+v", err, s.got)
		}
	}
	f := &otlpFlags{endpoint: s.URL}
	if err := f.check(); err != nil {
		t.Fatal(err)
	}
	if err := f.sendVerdict(t.Context(), v); err != nil || !s.has("/v1/logs", `"snag.verdict"`, `{"key":"host.name","value":{"stringValue":"lab"}}`) {
		t.Errorf("%v, %+v", err, s.got)
	}
	for _, f := range []otlpFlags{{headers: []string{"A: b"}}, {endpoint: "collector"}, {endpoint: s.URL, headers: []string{"@nowhere"}}} {
		if f.check() == nil {
			t.Errorf("%+v is taken", f)
		}
	}
}

package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"snag/recorder"
	"snag/recording/rectest"
	"snag/report"
	"snag/verdict"
)

func TestFindingOfAVerdict(t *testing.T) {
	t.Parallel()
	c, err := rectest.Load("../../suspects/testdata/reconnect-storm/guilty.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.WriteJSON(&b, verdict.Judge(c.Recording)); err != nil {
		t.Fatal(err)
	}
	f, err := findingOf(b.Bytes())
	if err != nil || !f.Hurt || f.Standing != "culprit" || len(f.Culprits) == 0 || f.Culprits[0].Name != "reconnect-storm" || f.Culprits[0].Subject == "" || len(f.Symptoms) == 0 || f.Symptoms[0].Name == "" {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := findingOf([]byte("snag: killed")); err == nil {
		t.Error("what is not a document has a finding")
	}
}

func TestIncidentsAreListedByKin(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 14, 0, 0, 0, time.Local)
	one := func(id int, name string, after, long time.Duration) recorder.Incident {
		return recorder.Incident{ID: id, Start: at.Add(after), End: at.Add(after + long), Finding: recorder.Finding{Culprits: []recorder.Named{{Name: name, Text: "text of " + name}}}}
	}
	goesOn := one(4, "disk-stall", 3*time.Hour, 0)
	goesOn.End = time.Time{}
	all := []recorder.Incident{one(1, "gc-pauses", 0, time.Minute), one(2, "packet-loss", time.Hour, time.Minute), one(3, "gc-pauses", 2*time.Hour, 90*time.Second), goesOn}
	g := grouped(all)
	if len(g) != 3 || g[0][0].ID != 4 || len(g[1]) != 2 || g[1][1].ID != 3 || g[2][0].ID != 2 {
		t.Errorf("%v", g)
	}
	if text := line(all[2], recorder.Ends); !strings.Contains(text, "ends after 1m30s") || !strings.Contains(text, "snag incidents show 3") {
		t.Error(text)
	}
}

func TestWhichTimeIsAskedFor(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 14, 30, 0, 0, time.UTC)
	tests := []struct {
		f        pastFlags
		from, to string // of the day
	}{
		{pastFlags{at: "2026-11-28T14:17:28Z"}, "14:17:08", "14:17:38"},
		{pastFlags{at: "2026-11-28T14:29:58Z"}, "14:29:38", "14:30:00"},
		{pastFlags{last: 10 * time.Minute}, "14:20:00", "14:30:00"},
		{pastFlags{from: "20m"}, "14:10:00", "14:30:00"},
		{pastFlags{from: "2026-11-28T14:10:00Z", to: "2026-11-28T14:25:00.5Z"}, "14:10:00", "14:25:00"},
	}
	for _, tt := range tests {
		from, to, err := tt.f.window(now)
		if err != nil || from.Wall().Format(time.TimeOnly) != tt.from || to.Wall().Format(time.TimeOnly) != tt.to {
			t.Errorf("%+v: from %s to %s, %v", tt.f, from, to, err)
		}
	}
	for _, f := range []pastFlags{{at: "soon"}, {at: "2026-11-28T15:00:00Z"}, {last: 3 * time.Hour}, {from: "5m", to: "10m"}} {
		if _, _, err := f.window(now); err == nil {
			t.Errorf("%+v is a time", f)
		}
	}
}

func TestMetricsOfARecorder(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	registry.MustRegister(healthMetrics{h: &recorder.Health{}})
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	if n, err := testutil.GatherAndCount(registry, "snag_verdict_hurt", "snag_record_up", "snag_incidents_total"); err != nil || n != 3 {
		t.Errorf("%d of 3 series, %v", n, err)
	}
}

package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/fleet/remotewrite"
	"snag/recorder"
	"snag/recording"
	"snag/tools/dashboards/expressions"
)

// What the dashboards and the alerts ask of a recorder is what its own code sends during an incident. Streams, and all
// of it from running programs, are in TestDashboardsAskForWhatIsSent.
func TestDashboardsAskForWhatARecorderSends(t *testing.T) {
	t.Parallel()
	sent := sentByRecorder(t)
	checked := 0
	for _, e := range everyExpression(t) {
		for _, u := range usesOf(t, e) {
			if strings.HasPrefix(u.Name, "snag_stream_") || strings.HasPrefix(u.Name, "snag_watch_") {
				continue
			}
			checked++
			labels, is := sent[u.Name]
			if !is {
				t.Errorf("%s: a recorder does not send %s", e.Where, u.Name)
			}
			for _, l := range u.Labels {
				if is && l != "instance" && l != "job" && !slices.Contains(labels, l) { // these two are of the store
					t.Errorf("%s: %s has no label %s, it has %v", e.Where, u.Name, l, labels)
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d metrics were compared", checked)
	}
}

// sentByRecorder are the labels of each metric that a recorder sends with an incident, two stores, a service and a
// dependency.
func sentByRecorder(t *testing.T) map[string][]string {
	t.Helper()
	var f recordFlags
	for _, w := range []*writeFlags{&f.write, &f.influx} {
		w.series = remotewrite.DefaultSeries
	}
	f.write.format, f.write.url = remotewrite.RemoteWrite, "http://127.0.0.1:9/api/v1/write"
	f.influx.format, f.influx.url = remotewrite.Influx, "http://127.0.0.1:9/write?db=snag"
	for _, w := range []*writeFlags{&f.write, &f.influx} {
		if err := w.check(t.TempDir(), nil, func(string) {}); err != nil {
			t.Fatal(err)
		}
	}
	at := recording.Time(time.Now().UnixNano())
	scrape := remotewrite.NewScrape(remotewrite.DefaultSeries)
	scrape.Append(recording.Turns{T: at, Role: "serve", Local: "0.0.0.0:80", Comm: "nginx", N: 8, Sum: 0.25})
	scrape.Append(recording.Turns{T: at, Role: "call", Remote: "10.0.0.3:5432", Comm: "app", N: 4, Sum: 0.2})
	for _, name := range []string{"snag_probe_cpu_seconds_total", "snag_probe_kernel_cpu_seconds_total"} { // as probes write them
		scrape.Sample(at, name, recording.Labels{"probe": "sockets"}, 1)
	}
	now := recorder.Status{
		Recording: true, Known: []string{"live/a"}, Oldest: time.Now(), Probes: map[string]recording.Coverage{"sockets": {State: recording.CoverageOK}},
		Incident: recorder.Incident{ID: 7, Start: time.Now(), Finding: recorder.Finding{Hurt: true,
			Culprits: []recorder.Named{{Name: "runtime-pause", Subject: "java[77]"}}, Symptoms: []recorder.Named{{Name: "answers-late", Subject: "nginx"}}}},
	}
	out := map[string][]string{}
	for _, m := range slices.Concat(asSeries(recorderMetrics(now, f.counted())), hostSeries(now), scrape.Now(at)) {
		out[m.Name] = append(out[m.Name], slices.Collect(maps.Keys(m.Labels))...)
	}
	return out
}

func usesOf(t *testing.T, e expressions.Expression) []expressions.Use {
	t.Helper()
	uses, err := expressions.Uses(e.Text)
	if err != nil {
		t.Errorf("%s: %v", e.Where, err)
	}
	return uses
}

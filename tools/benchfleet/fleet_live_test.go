package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"snag/fleet/discovery"
	"snag/fleet/hosts"
	"snag/fleet/prom"
)

// What snag find --fleet asks is understood by a real Prometheus, and the answer is right; a wrong one is noticed.
func TestFleetOnPrometheus(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("testdata/recorder.snappy")
	if err != nil {
		t.Fatal(err)
	}
	captured, err := decode(body)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(captured, 40)
	if err != nil {
		t.Fatal(err)
	}
	s, err := startStore(t.Context(), "/usr/bin/prometheus")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.end)
	at := time.Now().Truncate(time.Second)
	var times []int64
	for k := range 4 {
		times = append(times, at.Add(time.Duration(k-3)*15*time.Second).UnixMilli())
	}
	if err := s.fill(t.Context(), w, times); err != nil {
		t.Fatal(err)
	}
	client, err := prom.New(s.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := hosts.Read(t.Context(), client, "", at)
	if err != nil {
		t.Fatal(err)
	}
	causes := f.Causes()
	document, err := json.Marshal(f.Document(causes))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.check(document); err != nil {
		t.Error(err)
	}
	if n := w.check([]byte(strings.Replace(string(document), culprit, "cpu-throttled", 1))); n == nil {
		t.Error("another culprit passes")
	}
	if way := causes[0].Victims[1].Way; len(way) != 2 || way[0].Rate < 45 || way[0].Rate > 55 || way[0].Mean < 0.75 || way[0].Mean > 0.85 {
		t.Errorf("%+v", way)
	}
	l := discovery.List{Targets: []discovery.Target{{Address: address(7) + ":80"}, {Address: "db-1:5432"}, {Address: "10.9.9.9:80"}}}
	if err := f.Expect(t.Context(), client, "static:x", l); err != nil || len(f.Missing) != 1 || f.Missing[0].Name != "10.9.9.9" {
		t.Errorf("%v %v", f.Missing, err)
	}
	later, err := hosts.Read(t.Context(), client, `role="edge"`, at.Add(20*time.Minute))
	if err != nil || len(later.Hosts) != 28 || later.Standing(nil) != hosts.NotSeen {
		t.Fatal(later, err)
	}
	for _, h := range later.Hosts {
		if !h.Gone || h.Seen.Before(at.Add(-time.Minute)) || h.Seen.After(at) {
			t.Errorf("%+v", h)
		}
	}
}

package hosts

import (
	"strings"
	"testing"
	"time"
)

// Two recorders with one name are one host in the store. Then nothing of it counts as seen, and no cause hides that.
// One recorder whose series two servers collect, or that sends and is scraped too, is one.
func TestTwoRecordersWithOneName(t *testing.T) {
	// other adds what another recorder, or another way of the same one, sent so long ago.
	other := func(s *store, start float64, ago time.Duration, labels ...string) {
		s.add("snag_record_up", "edge-1", 1, labels...)
		s.add("seen", "edge-1", float64(now.Add(-ago).Unix()), labels...)
		if start > 0 {
			s.add(startSeries, "edge-1", start, labels...)
		}
	}
	for name, c := range map[string]struct {
		change func(s *store)
		want   string
	}{
		"two clusters": {func(s *store) {
			other(s, 100, time.Second, "cluster", "a", "job", "snag")
			other(s, 200, time.Second, "cluster", "b", "job", "snag")
		}, "edge-1: 2 recorders have this name and differ in cluster; give each its own label instance"},
		"recorders of an earlier version": {func(s *store) {
			other(s, 0, time.Second, "cluster", "a")
			other(s, 0, time.Second, "cluster", "b")
		}, "edge-1: 2 recorders have this name and differ in cluster; give each its own label instance"},
		"equal labels": {func(s *store) {
			other(s, 100, time.Second)
			s.add("resets", "edge-1", 8, sharedLabel, "yes")
		}, "edge-1: several recorders have this name and the same labels; give each its own label instance"},
		"two servers collect it": {func(s *store) {
			other(s, 0, time.Second, "prometheus_replica", "a")
			other(s, 0, time.Second, "prometheus_replica", "b")
		}, ""},
		"two receivers of Thanos": {func(s *store) {
			other(s, 100, time.Second, "receive", "a")
			other(s, 100, time.Second, "receive", "b")
		}, ""},
		"it sends and is scraped": {func(s *store) {
			other(s, 100, time.Second, "job", "snag")
			other(s, 100, time.Second, "job", "hosts")
		}, ""},
		"other labels since a restart": {func(s *store) {
			other(s, 100, 2*time.Minute, "role", "edge")
			other(s, 200, time.Second, "role", "origin")
		}, ""},
	} {
		s := &store{}
		s.host("edge-2", "", "10.0.0.2", time.Second)
		c.change(s)
		s.add("chosen", "edge-1", 1)
		text, causes, f := told(t, s, "")
		if c.want == "" {
			if f.Standing(causes) != Well {
				t.Errorf("%s: %s", name, text)
			}
			continue
		}
		if f.Standing(causes) != NotSeen || !strings.Contains(text, "not seen   "+c.want) {
			t.Errorf("%s: %s", name, text)
		}
		if d := f.Document(causes); len(d.Warnings) != 1 || d.Warnings[0] != c.want {
			t.Errorf("%s: %q", name, d.Warnings)
		}
		s.incident("edge-1", "disk-stall", "disk sda", "request-latency")
		if text, causes, f := told(t, s, ""); f.Standing(causes) != Found || !strings.Contains(text, c.want) {
			t.Errorf("%s, with a culprit: %s", name, text)
		}
	}
}

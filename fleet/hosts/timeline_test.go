package hosts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/fleet/prom"
)

// spans is a store that answers for a span of time: what was sent from when to when, by the hosts' clocks.
type spans struct {
	all      []sent
	asked    []string
	warnings []string
	err      error
	points   int
}

type sent struct {
	name     string
	labels   map[string]string
	value    float64
	from, to time.Time
}

func (s *spans) incident(host string, from, to time.Time, culprits ...string) {
	l := map[string]string{"instance": host}
	s.all = append(s.all, sent{"snag_incident_begin_timestamp_seconds", l, float64(from.Unix()), from, to})
	for _, c := range culprits {
		s.all = append(s.all, sent{"snag_incident_culprit", map[string]string{"instance": host, "suspect": c, "subject": c + "[7]"}, 1, from, to})
	}
}

func (s *spans) QueryRange(_ context.Context, q string, from, to time.Time, step time.Duration) (out prom.Range, err error) {
	if s.err != nil {
		return out, s.err
	}
	s.asked = append(s.asked, q)
	s.points = max(s.points, int(to.Sub(from)/step)+1)
	out.Warnings = s.warnings
	for _, x := range s.all {
		if !strings.Contains(q, x.name) {
			continue
		}
		one := prom.Series{Labels: x.labels}
		for at := from; !at.After(to); at = at.Add(step) {
			if x.from.Before(at) && x.to.After(at.Add(-step)) {
				one.Points = append(one.Points, prom.Point{At: at.UnixMilli(), Value: x.value})
			}
		}
		same := slices.IndexFunc(out.Series, func(o prom.Series) bool { return maps.Equal(o.Labels, one.Labels) })
		if same < 0 {
			out.Series = append(out.Series, one)
			continue
		}
		out.Series[same].Points = append(out.Series[same].Points, one.Points...)
		slices.SortFunc(out.Series[same].Points, func(a, b prom.Point) int { return cmp.Compare(a.At, b.At) })
	}
	return out, nil
}

func aTimeline(t *testing.T, f *Fleet, s *spans) *Timeline {
	t.Helper()
	line, err := f.ReadTimeline(t.Context(), s, `role="edge"`, 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// rowsOf are the rows in a line each, with their incidents' minutes before now.
func rowsOf(t *Timeline) (out []string) {
	ago := func(x time.Time) string {
		if x.IsZero() {
			return "now"
		}
		return fmt.Sprint(int(now.Sub(x).Round(time.Minute).Minutes()))
	}
	for _, r := range t.Rows {
		text := strings.TrimSpace(r.Host + " " + r.Suspect)
		for _, i := range r.Incidents {
			text += " " + ago(i.Start) + "-" + ago(i.End)
		}
		out = append(out, text)
	}
	return out
}

func TestTimeline(t *testing.T) {
	min := func(ago float64) time.Time { return now.Add(-time.Duration(ago * float64(time.Minute))) }
	f, err := Read(t.Context(), storm(), "", now) // edge-1 to edge-6 and origin-3 have an incident since five minutes
	if err != nil {
		t.Fatal(err)
	}
	s := &spans{}
	s.all = append(s.all, sent{"snag_record_up", map[string]string{}, 8, min(600), now})
	s.incident("origin-3", min(5), now.Add(time.Minute), "runtime-pause")
	s.incident("origin-3", min(200), min(190), "runtime-pause")
	s.incident("origin-3", min(100), min(90), "disk-stall")
	s.incident("player-1", min(60), min(58.5))         // nobody proved
	s.incident("long-gone", min(2000), min(1200), "x") // it began before, and no recorder is known by that name now
	line := aTimeline(t, f, s)
	got := rowsOf(line)
	want := []string{"origin-3 runtime-pause 5-now 200-187", "player-1 60-57", "origin-3 disk-stall 100-87", "long-gone x 2000-1197"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if s.points != steps || len(s.asked) != 3 || len(line.Seen) != steps || len(line.Affected) != steps {
		t.Errorf("%d points, %q", s.points, s.asked)
	}
	for _, q := range s.asked {
		if !strings.Contains(q, `{role="edge"}`) {
			t.Errorf("%s is asked of hosts that are not chosen", q)
		}
	}
	last := len(line.Affected) - 1
	if line.Affected[last] != 1 || line.Affected[last-12] != 1 || line.Affected[last-30] != 0 || line.Seen[last] != 8 || line.Seen[10] != 0 {
		t.Errorf("affected %v\nseen %v", line.Affected, line.Seen)
	}
	if !line.To.Equal(now) || now.Sub(line.From) > 24*time.Hour || now.Sub(line.From) < 23*time.Hour || line.Step != 300 {
		t.Errorf("%s to %s", line.From, line.To)
	}
}

// The culprit of an incident is the one that was named for longest; the one of the incident before is not its.
func TestCulpritOfAnIncident(t *testing.T) {
	f := &Fleet{At: now, Hosts: map[string]*Host{}}
	s := &spans{}
	min := func(ago int) time.Time { return now.Add(-time.Duration(ago) * time.Minute) }
	s.incident("a", min(300), min(200))
	for _, c := range []struct {
		suspect  string
		from, to int
	}{{"early", 290, 285}, {"right", 285, 200}, {"other", 100, 90}} {
		s.all = append(s.all, sent{"snag_incident_culprit", map[string]string{"instance": "a", "suspect": c.suspect}, 1, min(c.from), min(c.to)})
	}
	if got := rowsOf(aTimeline(t, f, s)); len(got) != 1 || !strings.HasPrefix(got[0], "a right ") {
		t.Errorf("%q", got)
	}
}

func TestBoundsOfATimeline(t *testing.T) {
	f := &Fleet{At: now, Hosts: map[string]*Host{"fast": {Name: "fast", Ahead: time.Hour}}}
	s := &spans{warnings: []string{"store-2: deadline"}}
	for i := range mostRows + 7 {
		s.incident(fmt.Sprintf("h-%03d", i), now.Add(-time.Duration(i+10)*time.Minute), now.Add(-time.Duration(i+8)*time.Minute), "x")
	}
	s.incident("fast", now.Add(-30*time.Minute), now.Add(-20*time.Minute), "x") // by its clock, which is an hour ahead
	line := aTimeline(t, f, s)
	if len(line.Rows) != mostRows || line.Left != 8 || len(line.Warnings) != 1 || line.Rows[0].Host != "h-000" {
		t.Errorf("%d rows, %d left, %v, %s first", len(line.Rows), line.Left, line.Warnings, line.Rows[0].Host)
	}
	at := slices.IndexFunc(line.Rows, func(r Row) bool { return r.Host == "fast" })
	if at < 0 || now.Sub(line.Rows[at].Incidents[0].Start).Round(time.Minute) != 90*time.Minute {
		t.Errorf("%v", line.Rows)
	}
	if _, err := f.ReadTimeline(t.Context(), &spans{err: errors.New("gone")}, "", time.Hour); err == nil {
		t.Error("a store without an answer has an empty timeline")
	}
}

// A page links those that it names, at an address that only they have.
func TestReach(t *testing.T) {
	s := storm()
	s.add("snag_host_address", "origin-3", 1, "address", "172.17.0.1") // the bridge that each host has
	s.add("snag_host_address", "edge-1", 1, "address", "172.17.0.1")
	s.add("snag_host_address", "edge-1", 1, "address", "2001:db8::1")
	_, causes, f := told(t, s, "")
	all := f.Mentioned(causes, &Timeline{Rows: []Row{{Host: "player-1"}, {Host: "long-gone"}}})
	if len(all) != 8 {
		t.Errorf("%d hosts", len(all))
	}
	at, err := f.Reach(t.Context(), s, all)
	if err != nil || at["origin-3"] != "10.0.0.3" || at["edge-1"] != "10.0.1.1" || at["player-1"] != "10.0.2.1" || at["long-gone"] != "" {
		t.Errorf("%v %v", at, err)
	}
	if without := f.Mentioned(causes, nil); len(without) != 7 {
		t.Errorf("%d hosts", len(without))
	}
}

package health

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/fleet/drain/plan"
	"snag/fleet/hosts"
	"snag/fleet/prom"
)

var at = time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)

func affected(since time.Duration, symptoms ...string) Host {
	return Host{Affected: true, Since: at.Add(since), Symptoms: symptoms, Culprit: "runtime-pause, java[77]"}
}

func TestCompare(t *testing.T) {
	before := Baseline{"ok": {}, "bad": affected(-time.Hour, "freeze of a"), "gone": {Unseen: "its recorder is paused"}}
	with := func(name string, h Host) Seen {
		all := Baseline{"ok": {}, "bad": before["bad"], "gone": before["gone"]}
		all[name] = h
		return Seen{Fleet: all}
	}
	streams := func(s Stream) Seen { s.Name, s.Server = "live", "10.0.0.1:1935"; return Seen{Streams: []Stream{s}} }
	for name, c := range map[string]struct {
		now           Seen
		out           Out
		hurt, unknown string // "": none
	}{
		"as before":                {now: with("ok", Host{})},
		"a host is affected":       {now: with("ok", affected(time.Minute, "late of b")), hurt: "host ok is affected since 14:01:00 UTC: late of b (runtime-pause, java[77])"},
		"a new host is":            {now: with("new", affected(time.Minute)), hurt: "host new is affected"},
		"a symptom is new":         {now: with("bad", affected(-time.Hour, "freeze of a", "late of b")), hurt: "host bad is worse: late of b is new"},
		"it got better":            {now: with("bad", Host{})},
		"it is affected again":     {now: with("bad", affected(time.Minute, "freeze of a")), hurt: "host bad is affected again"},
		"it is being drained":      {now: with("ok", affected(time.Minute)), out: Out{Hosts: map[string]bool{"ok": true}}},
		"it has come back":         {now: with("ok", affected(time.Minute)), out: Out{Back: map[string]bool{"ok": true}}, unknown: "after its restart"},
		"a recorder stopped":       {now: with("ok", Host{Unseen: "its recorder has sent nothing"}), unknown: "host ok: its recorder has sent nothing"},
		"that of a drained one":    {now: with("ok", Host{Unseen: "x"}), out: Out{Hosts: map[string]bool{"ok": true}}},
		"a host has gone":          {now: Seen{Fleet: Baseline{"bad": before["bad"], "gone": before["gone"]}}, unknown: "host ok is no longer in the store"},
		"no answer":                {now: Seen{NoFleet: "the store does not answer within 1s"}, unknown: "the store does not answer"},
		"a stream comes":           {now: streams(Stream{Comes: true, State: "ok", Broke: at.Add(-time.Minute)})},
		"a stream is frozen":       {now: streams(Stream{State: "frozen", Why: "no packets"}), hurt: "stream live is frozen: no packets"},
		"it froze between":         {now: streams(Stream{Comes: true, State: "ok", Broke: at.Add(time.Second)}), hurt: "froze or ended at 14:00:01"},
		"nothing is known yet":     {now: streams(Stream{Starting: true, State: "connecting"}), unknown: "does not come yet"},
		"its server is drained":    {now: streams(Stream{State: "down"}), out: Out{Addresses: map[string]bool{"10.0.0.1:1935": true}}},
		"its server has come back": {now: streams(Stream{State: "down"}), out: Out{BackAddresses: map[string]bool{"10.0.0.1:1935": true}}, unknown: "does not come yet (down)"},
		"a check fails":            {now: Seen{Checks: []Check{{Name: "site", Failed: "500"}}}, hurt: "check site fails: 500"},
		"a check is late":          {now: Seen{Checks: []Check{{Name: "site", Late: "no answer within 1s"}}}, unknown: "check site: no answer within 1s"},
	} {
		o := Compare(before, at, c.now, c.out)
		match := func(got []string, want string) bool {
			return want == "" && len(got) == 0 || want != "" && len(got) == 1 && strings.Contains(got[0], want)
		}
		if !match(o.Hurt, c.hurt) || !match(o.Unknown, c.unknown) || o.Healthy() != (c.hurt+c.unknown == "") {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// Before anything is done, hosts that are affected or not seen are named; a stream that does not come or a check that
// fails must not be begun with.
func TestFirst(t *testing.T) {
	o, notes := First(Seen{At: at, Fleet: Baseline{"a": affected(-time.Hour, "freeze of x"), "b": {Unseen: "paused"}, "c": {}}}, Out{})
	if !o.Healthy() || len(notes) != 2 || !strings.Contains(notes[0], "host a is affected already") || !strings.Contains(notes[1], "host b is not seen: paused") {
		t.Errorf("%+v %q", o, notes)
	}
	if o, _ = First(Seen{At: at, Fleet: Baseline{"a": {Unseen: "paused"}, "b": {Unseen: "paused"}}}, Out{}); len(o.Unknown) != 1 {
		t.Errorf("hosts that are not seen are healthy: %+v", o)
	}
	if o, _ = First(Seen{At: at, Checks: []Check{{Name: "x", Failed: "500"}}}, Out{}); len(o.Hurt) != 1 {
		t.Errorf("%+v", o)
	}
}

// silent is a store that never answers.
type silent struct{}

func (silent) Query(ctx context.Context, _ string, _ time.Time) (prom.Answer, error) {
	<-ctx.Done()
	return prom.Answer{}, ctx.Err()
}

// Who never answers is unknown, and holds nothing up for longer than the limit.
func TestWhoNeverAnswers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // it accepts and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	look := &Looker{Store: silent{}, Limit: 300 * time.Millisecond, Checks: []plan.Check{
		{Name: "web", HTTP: &plan.Request{URL: "http://" + l.Addr().String()}},
		{Name: "command", Run: []string{"sleep", "60"}},
		{Run: []string{"sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"}},
	}}
	begun := time.Now()
	seen := look.Look(t.Context())
	if took := time.Since(begun); took > 9*time.Second {
		t.Errorf("it took %s", took)
	}
	o := Compare(Baseline{}, at, seen, Out{})
	if len(o.Hurt) != 0 || len(o.Unknown) != 4 {
		t.Fatalf("%+v", o)
	}
	for i, want := range []string{"the store does not answer within 300ms", "check web: no answer within 300ms", "check command: no answer", "check 3: no answer"} {
		if !strings.Contains(o.Unknown[i], want) {
			t.Errorf("%q, want %q", o.Unknown[i], want)
		}
	}
}

func TestWhatChecksSay(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no origin", http.StatusBadGateway) }))
	defer s.Close()
	look := &Looker{Limit: 5 * time.Second, Checks: []plan.Check{
		{Name: "web", HTTP: &plan.Request{URL: s.URL + "/?token=secret"}},
		{Name: "expected", HTTP: &plan.Request{URL: s.URL, Status: 502}},
		{Name: "command", Run: []string{"sh", "-c", "echo two viewers left; exit 3"}},
		{Name: "fine", Run: []string{"true"}},
		{Name: "none", Run: []string{"/no/such/program"}},
	}}
	o := Compare(nil, at, look.Look(t.Context()), Out{})
	if len(o.Unknown) != 0 || len(o.Hurt) != 3 {
		t.Fatalf("%+v", o)
	}
	for i, want := range []string{"502 Bad Gateway, and 200 to 299 is expected: no origin", "exit status 3: two viewers left", "start /no/such/program"} {
		if !strings.Contains(o.Hurt[i], want) || strings.Contains(o.Hurt[i], "secret") {
			t.Errorf("%q, want %q", o.Hurt[i], want)
		}
	}
}

// answers is a store with hosts: the samples of the first part that a query has.
type answers []struct {
	part    string
	samples []prom.Sample
}

func (a answers) Query(_ context.Context, q string, _ time.Time) (prom.Answer, error) {
	for _, one := range a {
		if strings.Contains(q, one.part) {
			if one.samples == nil {
				return prom.Answer{}, errors.New("refused")
			}
			return prom.Answer{Samples: one.samples}, nil
		}
	}
	return prom.Answer{}, nil
}

func TestTheStoreIsRead(t *testing.T) {
	of := func(name string, v float64, labels ...string) (out []prom.Sample) {
		l := map[string]string{"instance": "edge-1", "__name__": name}
		for i := 0; i+1 < len(labels); i += 2 {
			l[labels[i]] = labels[i+1]
		}
		return []prom.Sample{{Labels: l, Value: v}}
	}
	now := float64(time.Now().Unix())
	now60 := slices.Concat(of("snag_record_up", 1), of("snag_incident_begin_timestamp_seconds", now-60),
		of("snag_incident_symptom", 1, "symptom", "freeze", "subject", "live"), of("snag_incident_culprit", 1, "suspect", "disk-stall", "subject", "sda"))
	store := answers{
		{"snag_clock_ahead_seconds", []prom.Sample{}}, {"timestamp(snag_record_up)", of("", now)}, {"last_over_time", of("", 1)}, {"snag_incident_culprit", now60},
	}
	look := &Looker{Store: store, Limit: time.Second}
	h := look.Look(t.Context()).Fleet["edge-1"]
	if !h.Affected || len(h.Symptoms) != 1 || h.Symptoms[0] != "freeze of live" || h.Culprit != "disk-stall, sda" {
		t.Errorf("%+v", h)
	}
	store[2].samples = []prom.Sample{}
	if seen := look.Look(t.Context()); seen.Fleet != nil || !strings.Contains(seen.NoFleet, "no recorder with") {
		t.Errorf("hosts that no matcher names are healthy: %+v", seen)
	}
	store[2].samples = nil
	if seen := look.Look(t.Context()); seen.Fleet != nil || seen.NoFleet == "" {
		t.Errorf("%+v", seen)
	}
}

// Of a host whose name several recorders send it is not known whether a step hurts it.
func TestAHostOfTwoRecordersIsNotKnown(t *testing.T) {
	h := hostOf(&hosts.Host{Recording: true, Shared: "2 recorders have this name and differ in cluster"})
	o := Compare(Baseline{"edge-1": {}}, at, Seen{Fleet: Baseline{"edge-1": h}}, Out{})
	if len(o.Unknown) != 1 || o.Unknown[0] != "host edge-1: 2 recorders have this name and differ in cluster" {
		t.Errorf("%+v", o)
	}
}

package hosts

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"snag/fleet/discovery"
)

// Hosts that only node_exporter is on clear nobody, and nobody is accused for their signs.
func TestHostsWithNodeExporterOnly(t *testing.T) {
	s := &store{}
	db := s.exporter.Add(now, "10.0.0.9:9100", "db-1")
	db.Now["overflows"], db.Now["disk busy/sda"], db.Now["disk time/sda"] = 1.04, 0.97, 8.4
	db.Now["again"], db.Usual["again"] = 12, 11
	web := s.exporter.Add(now, "10.0.0.8:9100", "web-1")
	for _, name := range []string{"entries", "entries limit", "qdisc drops/eth0"} {
		delete(web.Now, name)
	}
	s.exporter.Add(now, "10.0.0.7:9100", "gone-1").Down = true
	text, causes, f := told(t, s, "")
	const want = `http://p:9090 · 3 hosts, 0 affected, 3 not seen (node_exporter only) · 14:17:28 UTC

CAN'T TELL WHO IS AFFECTED: none of these hosts has a recorder of snag

SIGNS from node_exporter, in the last 5 min (usual: in the hour before that)
db-1 (10.0.0.9:9100)
  listen-overflow: 312 connects dropped, an accept queue was full (usual 0)
  disk-stall: sda takes 84 ms per request, busy 97 % of the time (usual 10 %)
  packet-loss: 1.2 % of TCP's segments sent again, 3,600 (usual 1.1 %)
no sign on 1 host, which clears nobody: web-1
not scraped now, but within the last hour: gone-1
not seen, without data of these collectors (hosts): conntrack (1), qdisc (1)
No client was measured here: who waited is not seen; ` + "`snag record`" + ` on that host
shows it.
`
	if text != want {
		t.Errorf("%s", text)
	}
	if len(causes) != 0 || f.Standing(causes) != NotSeen {
		t.Errorf("%+v: %s", causes, f.Standing(causes))
	}
	d := f.Document(causes)
	states := map[string]string{}
	for _, h := range d.Hosts {
		states[h.Name] = h.State
	}
	if fmt.Sprint(states) != "map[db-1:node_exporter only gone-1:gone web-1:node_exporter only]" {
		t.Errorf("%v", states)
	}
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"name":"db-1","state":"node_exporter only","culprits":[],"symptoms":[],"node_exporter":{"instance":"10.0.0.9:9100","scraped":true,"signs":[{"name":"listen-overflow","suspect":true,"value":312,"usual":0,"unit":"connects",`,
		`"collectors_not_read":["conntrack","qdisc"]`, `"standing":"not seen"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
}

// Hosts with recorders keep what can be said of them; one whose recorder sends is not asked for by its node_exporter.
func TestRecordersBesideNodeExporter(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(s *store)
		want    Standing
		text    []string
		without string
	}{
		"others have no recorder": {func(s *store) { s.exporter.Add(now, "10.0.0.9:9100", "db-1") }, Well,
			[]string{"3 hosts, 0 affected, 1 not seen (node_exporter only)", "NO HOST AFFECTED of 2 with a recorder; not seen, as they have none: 1", "clears nobody: db-1"}, "each was seen"},
		"beside a recorder, by name": {func(s *store) { s.exporter.Add(now, "10.7.0.1:9100", "A.example.com").Now["overflows"] = 9 }, Well,
			[]string{"2 hosts, 0 affected ·", "each was seen"}, "listen-overflow"},
		"beside a recorder, by address": {func(s *store) { s.exporter.Add(now, "10.0.0.1:9100", "").Now["overflows"] = 9 }, Well,
			[]string{"2 hosts, 0 affected ·", "each was seen"}, "listen-overflow"},
		"beside a recorder that is gone": {func(s *store) {
			s.host("c", "", "10.0.0.3", 20*time.Minute)
			s.exporter.Add(now, "10.0.0.3:9100", "").Now["overflows"] = 9
		}, NotSeen, []string{"3 hosts, 0 affected, 1 not seen (node_exporter only)", "c: its recorder has sent nothing since 13:57:28 UTC", "c (10.0.0.3:9100)\n  listen-overflow: 2,700"}, "NO HOST AFFECTED"},
		"beside a recorder that paused": {func(s *store) {
			s.host("c", "", "10.0.0.3", time.Second)
			s.add("snag_record_up", "c", 0)
			s.exporter.Add(now, "10.0.0.3:9100", "").Now["overflows"] = 9
		}, NotSeen, []string{"3 hosts, 0 affected ·", "c: its recorder is paused", "listen-overflow: 2,700"}, "NO HOST AFFECTED"},
		"what the store refuses of it": {func(s *store) {
			s.exporter.Add(now, "10.0.0.9:9100", "db-1").Now["overflows"] = 9
			s.exporter.Refuse = map[string]error{"node_netstat": errors.New("timed out")}
		}, Well, []string{"not seen   node_exporter's netstat: timed out", "netstat (1)"}, "listen-overflow"},
	} {
		s := &store{}
		s.host("a", "", "10.0.0.1", time.Second)
		s.host("b", "", "10.0.0.2", time.Second)
		c.change(s)
		text, causes, f := told(t, s, "")
		if got := f.Standing(causes); got != c.want || strings.Contains(text, c.without) {
			t.Errorf("%s: %s\n%s", name, got, text)
		}
		for _, want := range c.text {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
	}
}

// A way that comes to a host without a recorder ends there, with its signs as evidence. It is accused as a server on no
// known host is, and never for the signs.
func TestAWayEndsAtNodeExporter(t *testing.T) {
	app := func(suspect, subject string) *store {
		s := &store{}
		s.host("app", "app", "10.0.0.2", time.Second)
		s.incident("app", suspect, subject, "request-latency")
		s.serves("app", "0.0.0.0:9000", 10, 1)
		s.calls("app", "10.0.0.9:5432", 10, 1)
		s.exporter.Add(now, "10.0.0.9:9100", "db-1").Now["overflows"] = 1.04
		s.exporter.Add(now, "10.0.0.8:9100", "other").Now["overflows"] = 1
		return s
	}
	const way = "app waits for 10.0.0.9:5432 on db-1 (node_exporter only): 10 answers per second, 1 s each"
	const sign = "\n    signs there, which prove nothing:\n      listen-overflow: 312 connects dropped, an accept queue was full (usual 0)\n"
	for name, c := range map[string]struct {
		suspect, subject string
		want             Standing
		text             []string
	}{
		"its verdict names the server": {"slow-dependency", "peer 10.0.0.9:5432", Found, []string{"CULPRIT  10.0.0.9:5432 on db-1, which only node_exporter is on", way + " (slow-dependency)" + sign, "next  start snag record on db-1"}},
		"the server has ended":         {refused, "peer 10.0.0.9:5432", Found, []string{"CULPRIT on db-1  upstream-refused", way, "next  start snag record on db-1"}},
		"its calls take the time":      {"", "", Unknown, []string{"NO CAUSE PROVED on app", way + sign}},
	} {
		text, causes, f := told(t, app(c.suspect, c.subject), `role="app"`)
		if got := f.Standing(causes); len(causes) != 1 || got != c.want {
			t.Errorf("%s: %s, %+v", name, got, causes)
		}
		for _, want := range c.text {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
		if strings.Contains(text, "other") || strings.Contains(text, "CULPRIT on db-1  listen-overflow") {
			t.Errorf("%s: %s", name, text)
		}
		d := f.Document(causes)
		if step := d.Causes[0].Victims[0].Way[0]; !step.Only || len(d.Hosts) != 2 || d.Hosts[1].Exporter == nil || len(d.Hosts[1].Exporter.Signs) != 1 {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// What a host without a recorder drops looks like loss on the way: its signs are beside the loss, which stays
// the cause.
func TestLossTowardsNodeExporter(t *testing.T) {
	s := &store{}
	s.host("edge-1", "", "10.0.1.1", time.Second)
	s.incident("edge-1", "packet-loss", "nginx[7] tcp 10.0.1.1:44324 → 10.0.0.9:9000", "connect-latency")
	s.exporter.Add(now, "10.0.0.9:9100", "db-1").Now["overflows"] = 1.04
	text, causes, f := told(t, s, "")
	if len(causes) != 1 || causes[0].Host != "edge-1" || causes[0].Suspect != "packet-loss" || f.Standing(causes) != Found {
		t.Errorf("%+v", causes)
	}
	if want := "  edge-1 loses packets to or from 10.0.0.9:9000 on db-1 (node_exporter only)\n    signs there, which prove nothing:\n      listen-overflow: 312"; !strings.Contains(text, want) {
		t.Errorf("no %q", want)
	}
}

// A host that a list has, and that only node_exporter knows, is missing all the same.
func TestAListedHostWithNodeExporterOnly(t *testing.T) {
	s := &store{}
	s.host("edge-1", "edge", "10.0.1.1", time.Second)
	s.exporter.Add(now, "10.0.1.2:9100", "edge-2")
	f, err := Read(t.Context(), s, "", now)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Expect(t.Context(), s, "file:x.json", discovery.List{Targets: []discovery.Target{{Address: "edge-1:80"}, {Address: "10.0.1.2:80"}}}); err != nil {
		t.Fatal(err)
	}
	if len(f.Missing) != 1 || !strings.Contains(f.Missing[0].Why, "only node_exporter is on it") || f.Standing(nil) != NotSeen {
		t.Errorf("%+v %s", f.Missing, f.Standing(nil))
	}
}

// Of many hosts those with most news are shown, the others counted: the answer fits on a terminal.
func TestManyHostsWithSigns(t *testing.T) {
	s := &store{}
	for i := range 1000 {
		h := s.exporter.Add(now, fmt.Sprintf("10.1.%d.%d:9100", i/250, i%250), fmt.Sprintf("node-%03d", i))
		if i%3 == 0 {
			h.Now["overflows"] = 1
		}
		if i%5 == 0 {
			h.Now["again"], h.Usual["again"] = 12, 12
		}
		if i == 600 {
			h.Now["oom kills"], h.Now["idle"], h.Now["stalled by io"], h.Now["waits for memory"] = 1, 0.05, 0.5, 0.5
		}
	}
	text, _, _ := told(t, s, "")
	for _, want := range []string{"1,000 hosts, 0 affected, 1,000 not seen", "before that)\nnode-600 (10.1.2.100:9100)\n", "  and 2 more signs\n", "463 more hosts with signs (--json has all): listen-overflow 330, packet-loss 196\n", "no sign on 533 hosts, which clears nobody"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if n := strings.Count(text, "\n"); n > 24 {
		t.Errorf("%d lines", n)
	}
	if n := len(s.asked); n > 45 {
		t.Errorf("%d queries", n)
	}
	if n := strings.Count(text, "(10.1."); n != mostSigned {
		t.Errorf("%d hosts are shown", n)
	}
	if _, err := Read(t.Context(), s, `role="edge"`, now); err == nil || !strings.Contains(err.Error(), "hosts without them: 1000") {
		t.Error(err)
	}
}

// The labels that were asked for may be node_exporter's alone: the host is asked for all the same.
func TestLabelsOfNodeExporter(t *testing.T) {
	s := &store{}
	s.host("a", "", "10.0.0.1", 20*time.Minute)
	s.host("b", "", "10.0.0.2", time.Second)
	s.exporter.Add(now, "10.0.0.1:9100", "a").Labels["role"] = "db"
	s.exporter.Add(now, "10.0.0.2:9100", "b").Labels["role"] = "db"
	s.exporter.Add(now, "10.0.0.3:9100", "c").Labels["role"] = "web"
	for i, x := range s.all {
		if x.Labels["__name__"] == "chosen" {
			s.all[i].Labels["__name__"] = "not asked for"
		}
	}
	f, err := Read(t.Context(), s, `role="db"`, now)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Hosts["a"].Chosen || !f.Hosts["b"].Chosen || f.Hosts["c"].Chosen || f.Hosts["a"].Exporter == nil || f.Hosts["b"].Exporter != nil {
		t.Errorf("%+v %+v %+v", f.Hosts["a"], f.Hosts["b"], f.Hosts["c"])
	}
}

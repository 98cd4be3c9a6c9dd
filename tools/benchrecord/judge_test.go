package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/tools/benchhost"
)

func rulesOf(t *testing.T, incident string) rules {
	t.Helper()
	for _, r := range allRules {
		if r.incident == incident {
			return r
		}
	}
	t.Fatalf("no rules for the incident %q", incident)
	return rules{}
}

func TestEveryIncidentHasRules(t *testing.T) {
	if len(allRules) != len(incidents) {
		t.Errorf("got rules of %d incidents, want %d", len(allRules), len(incidents))
	}
	for _, in := range incidents {
		rulesOf(t, in.name)
	}
	for _, tool := range tools {
		if readers[tool] == nil {
			t.Errorf("no reader of what %s prints", tool)
		}
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name, incident string
		before, during answer
		want           outcome
		others         int
	}{
		{"nothing", "stopped", answer{}, answer{}, nothing, 0},
		{"a list with the culprit in it names nobody", "CPU", answer{}, answer{figures: figures{"process report-batch rss": 90}}, nothing, 0},
		{"the highest of many", "CPU", answer{}, answer{figures: figures{"process a cpu": 3, "process b cpu": 3, "process report-batch cpu": 180, "process c cpu": 3}}, culprit, 0},
		{"one of many that is low", "CPU", answer{figures: figures{"process a cpu": 30}}, answer{figures: figures{"process a cpu": 30, "process b cpu": 30, "process report-batch cpu": 2, "process c cpu": 30}}, nothing, 0},
		{"idle falls", "CPU", answer{figures: figures{"all %idle": 60}}, answer{figures: figures{"all %idle": 2}}, symptom, 0},
		{"a figure that is gone has fallen", "stopped", answer{figures: figures{"eth0 rxkB/s": 60}}, answer{}, symptom, 0},
		{"a counter of the host names no socket", "accept queue", answer{}, answer{figures: figures{"node_netstat_TcpExt_ListenOverflows{}": 4}}, symptom, 0},
		{"an alarm names the kind", "accept queue", answer{}, answer{causes: []string{"warning: 1m_tcp_accept_queue_overflows on ip.tcp_accept_queue"}}, symptom, 0},
		{"a verdict", "accept queue", answer{}, answer{causes: []string{"listen-overflow: playlist-srv[4] at 10.88.250.1:8080: the accept queue was full"}}, culprit, 0},
		{"another verdict", "CPU", answer{}, answer{causes: []string{"softnet-backlog: CPU 0: the CPUs' backlogs dropped 502 packets"}}, nothing, 1},
		{"a function of the culprit", "spin lock", answer{}, answer{figures: figures{"function of thread-server pthread_spin_lock": 80, "function of snag main": 2}}, culprit, 0},
		{"a late acknowledgement", "Nagle", answer{figures: figures{"10.88.250.1:9006 acknowledges after, ms": 0.3}}, answer{figures: figures{"10.88.250.1:9006 acknowledges after, ms": 20}}, culprit, 0},
		{"late answers of nginx name no upstream", "upstream", answer{}, answer{figures: figures{"10.88.250.1:8086 answers after, ms": 400}}, symptom, 0},
		{"late answers of the upstream", "upstream", answer{}, answer{figures: figures{"10.88.250.2:8000 answers after, ms": 400}}, culprit, 0},
		{"a counter of lost datagrams names no socket", "UDP buffer", answer{}, answer{figures: figures{"node_netstat_Udp_RcvbufErrors{}": 12}}, symptom, 0},
		{"a function whose name has the word", "CPU", answer{}, answer{figures: figures{"function of link loader.load": 2}}, nothing, 0},
		{"a process whose name has the word", "CPU", answer{}, answer{figures: figures{"process load.test cpu": 9}}, nothing, 0},
		{"the load", "CPU", answer{figures: figures{"host load 1": 1}}, answer{figures: figures{"host load 1": 9}}, symptom, 0},
		{"harm of a party", "CPU quota", answer{}, answer{harm: []string{"request-latency: api-server[9]: 1.2 s"}}, symptom, 0},
		{"harm of another", "CPU quota", answer{}, answer{harm: []string{"request-latency: sshd[9]: 1.2 s"}}, nothing, 0},
	} {
		j := rulesOf(t, c.incident).judge(c.before, c.during)
		if j.outcome != c.want || j.others != c.others {
			t.Errorf("%s: got outcome %d with %d others, want %d with %d", c.name, j.outcome, j.others, c.want, c.others)
		}
	}
}

// What was kept is judged again without another run, and a tool without an answer has not
// been asked: that is not "nothing".
func TestJudgeAll(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "CPU")
	now := time.Unix(1795932286, 0)
	e := event{Title: "a batch job", Before: span{now, now}, During: span{now, now}, Missing: map[string]string{"perf": "it ended"}}
	if err := benchhost.WriteJSON(filepath.Join(at, "incident.json"), &e); err != nil {
		t.Fatal(err)
	}
	keep := func(tool, name string, s ...section) {
		if err := writeText(filepath.Join(at, tool+"."+name+".gz"), joinSections(s)); err != nil {
			t.Fatal(err)
		}
	}
	line := "vm\t1\t2026-11-29 06:04:46 UTC\tall\t%idle\t"
	keep("sysstat", "before", section{"sadf -p", line + "60.0\n"})
	keep("sysstat", "during", section{"sadf -p", line + "2.0\n"})
	keep("atop", "before", section{"atop -r", ""})
	keep("atop", "during", section{"atop -r", ""})
	all, err := judgeAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	for tool, want := range map[string]string{"sysstat": "shows the symptom", "atop": "did not run", "perf": "did not run", "below": "did not run"} {
		if got := all[0].tools[tool].cell(); got != want {
			t.Errorf("%s: got %q, want %q (%v)", tool, got, want, all[0].tools[tool].evidence)
		}
	}
	if table := incidentTable(all); !strings.Contains(table, "| a batch job (report-batch, which computes) | did not run |") {
		t.Errorf("got the table\n%s", table)
	}
	if text := evidence(all); !strings.Contains(text, "all %idle: 60 before, 2 during") {
		t.Errorf("got the evidence\n%s", text)
	}
	if _, err := judgeAll(t.TempDir()); err == nil {
		t.Error("an empty folder was judged")
	}
}

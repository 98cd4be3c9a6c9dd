package main

import "testing"

func TestScore(t *testing.T) {
	for _, c := range []struct {
		name                   string
		in                     incident
		a                      answer
		visible, guilty, cause bool
		others                 int
	}{
		{"nothing", stopped, answer{}, false, false, false, 0},
		{"a list with the guilty one in it names nobody", saturated, answer{Facts: []fact{{"process report-batch rss", 0, 90}}}, false, false, false, 0},
		{"the highest of many", saturated, answer{Facts: []fact{{"process a cpu", 3, 3}, {"process b cpu", 3, 3}, {"process report-batch cpu", 0, 180}, {"process c cpu", 3, 3}}}, false, true, false, 0},
		{"one of many that is low", saturated, answer{Facts: []fact{{"process a cpu", 30, 30}, {"process b cpu", 30, 30}, {"process report-batch cpu", 0, 2}, {"process c cpu", 30, 30}}}, false, false, false, 0},
		{"idle falls", saturated, answer{Facts: []fact{{"all %idle", 60, 2}}}, true, false, false, 0},
		{"a counter of the host names no socket", overflow, answer{Facts: []fact{{"node_netstat_TcpExt_ListenOverflows{}", 0, 4}}}, true, false, false, 0},
		{"an alarm names the kind", overflow, answer{Said: []string{"warning: 1m_tcp_accept_queue_overflows on ip.tcp_accept_queue"}}, true, false, true, 0},
		{"a verdict", overflow, answer{Said: []string{"listen-overflow: playlist-srv[4] at 10.88.250.1:8080: the accept queue was full"}}, true, true, true, 0},
		{"another verdict", saturated, answer{Said: []string{"softnet-backlog: CPU 0: the CPUs' backlogs dropped 502 packets"}}, false, false, false, 1},
		{"harm of a party", throttled, answer{Harm: []string{"request-latency: api-server[9]: 1.2 s"}}, true, false, false, 0},
		{"harm of another", throttled, answer{Harm: []string{"request-latency: sshd[9]: 1.2 s"}}, false, false, false, 0},
	} {
		s := c.in.score(c.a)
		if s.Visible != c.visible || s.Guilty != c.guilty || s.Cause != c.cause || s.Others != c.others {
			t.Errorf("%s: got visible %v, guilty %v, cause %v, others %d", c.name, s.Visible, s.Guilty, s.Cause, s.Others)
		}
	}
}

func TestCostRows(t *testing.T) {
	rows := costRows([]cost{
		{Name: "atop, 1 s", Usual: 600e9, Interval: 1e9, Disk: 6e6, CPU: []part{{"atop", 0.06, 1e6}}},
		{Name: "atop, 1 s", Usual: 600e9, Interval: 1e9, Disk: 6e6, CPU: []part{{"atop", 0.08, 1e6}}},
	})
	if len(rows) != 2 || rows[0].name != "atop, 600 s" || !rows[0].computed || rows[1].cpu != 0.07 {
		t.Fatalf("got %+v", rows)
	}
	if rows[0].disk != 1e4 {
		t.Errorf("disk at 600 s: got %v, want a 600th", rows[0].disk)
	}
}

func TestGroupFiles(t *testing.T) {
	if d, err := parseUsage([]byte("usage_usec 1500\nuser_usec 1000\n")); err != nil || d != 1500e3 {
		t.Errorf("usage: got %v, %v", d, err)
	}
	if n := parsePSS([]byte("5581-7ffd ---p 0 00:00 0 [rollup]\nRss:  900 kB\nPss:  700 kB\nPss_Dirty: 4 kB\n")); n != 700<<10 {
		t.Errorf("PSS: got %d", n)
	}
}

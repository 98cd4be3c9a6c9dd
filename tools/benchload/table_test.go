package main

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	t.Parallel()
	const ping, late, high = "ping-pong over tcp", "lateness at 1,000 requests/s", "40,000 requests/s"
	r := report{Machine: "2 CPUs", Contests: map[string]map[string][]figures{
		ping: {"snag": {{"p50, µs": 11, "p99, µs": 24}, {"p50, µs": 10, "p99, µs": 20}, {"p50, µs": 12, "p99, µs": 24}}, "sockperf": {{"p50, µs": 10, "p99, µs": 20}, {"p50, µs": 10, "p99, µs": 20}, {"p50, µs": 10, "p99, µs": 20}}},
		late: {"snag": {{"late p50, µs": 30}}},
		high: {"snag": {{"achieved, share": 0.98}}},
	}, Missing: map[string]string{"Redis, saturated": "no redis-server", late + ", wrk2": "not\nfound"}, Checks: map[string][]checked{
		"a pool of 4 workers": {{1.1, "4.4"}, {0.8, "3.2"}}, "control: gRPC": {{1, "nothing"}}, "sessions that queue": {{0.9, ""}},
	}}
	got := table(&r)
	for _, want := range []string{
		"| ping-pong over tcp | p50, µs | 11 | sockperf | 10 | 1.1 (1–1.2) | ≤ 1.1 | within |",
		"| ping-pong over tcp | p99, µs | 24 | sockperf | 20 | 1.2 (1–1.2) | ≤ 1.15 | missed |",
		"| ping-pong over tcp | p50, µs | 11 | sockperf --nonblocked | – | – | ≤ 1.1 | not measured |",
		"| lateness at 1,000 requests/s | late p50, µs | 30 | wrk2 | – | – | ≤ 0.1 | not measured |",
		"| 40,000 requests/s | achieved, share | 0.98 | | | (0.98–0.98) | ≥ 0.99 | missed |",
		"| Redis, saturated | CPU per request, µs | – | | | | none | not measured |",
		"| a pool of 4 workers | 1 of 2 | 0.8–1.1 of it | their number within 15 % | missed |",
		"| control: gRPC | 1 of 1 |  | nothing is found | within |",
		"| sessions that queue | 1 of 1 | 0.9–0.9 of it | the growth of the wait within 15 % | within |",
		"- Redis, saturated: no redis-server\n- lateness at 1,000 requests/s, wrk2: not found\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "ghz") || strings.Contains(got, "16 workers") {
		t.Errorf("rows of what was not asked for:\n%s", got)
	}
}

// Every goal is of a contest, and of a contender of it.
func TestGoalsAreOfContests(t *testing.T) {
	t.Parallel()
	for _, g := range goals {
		known := false
		for _, c := range contests {
			for _, who := range c.contenders {
				known = known || c.name == g.contest && (who.name == g.peer || g.peer == "")
			}
		}
		if !known {
			t.Errorf("%+v is of no contest", g)
		}
	}
}

func TestSockperfFigures(t *testing.T) {
	t.Parallel()
	text := "sockperf: ---> <MAX> observation =  190.541\nsockperf: ---> percentile 99.900 =   60.123\nsockperf: ---> percentile 99.000 =   28.765\nsockperf: ---> percentile 50.000 =   14.321\n"
	if f, err := sockperfFigures([]byte(text)); err != nil || f["p50, µs"] != 14.321 || f["p99, µs"] != 28.765 {
		t.Errorf("%v, %v", f, err)
	}
	if _, err := sockperfFigures([]byte("sockperf: ERROR")); err == nil {
		t.Error("figures of nothing")
	}
	if m := string(sockperfMessage(20)); m != "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x03\x00\x00\x00\x14\x00\x00\x00\x00\x00\x00" {
		t.Errorf("%q", m)
	}
}

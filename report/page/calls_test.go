package page

import (
	"slices"
	"testing"

	"snag/recording/rectest"
	"snag/verdict"
)

const relayed = `A relay whose calls were traced: it reads one socket and writes two.
-- manifest --
{"seconds": 4}
-- calls --
{"t": 0, "pid": 812, "tid": 812, "comm": "relay", "call": "recvfrom", "fd": 3, "n": 4, "done_bytes": 1000, "sum": 0.5, "max": 1}
{"t": 0, "pid": 812, "tid": 812, "comm": "relay", "call": "sendto", "fd": 4, "n": 4, "done_bytes": 900, "sum": 0.1, "max": 1}
{"t": 0, "pid": 812, "tid": 812, "comm": "relay", "call": "write", "fd": 4, "n": 4, "done_bytes": 100, "sum": 0.1, "max": 1}
{"t": 2, "pid": 812, "tid": 812, "comm": "relay", "call": "sendto", "fd": 5, "n": 4, "done_bytes": 700, "sum": 0.9, "max": 1}
{"t": 2, "pid": 812, "tid": 812, "comm": "relay", "call": "epoll_wait", "fd": 9, "n": 4, "sum": 1, "max": 1}
{"t": 2, "pid": 900, "tid": 900, "comm": "other", "call": "read", "fd": 5, "n": 4, "done_bytes": 7, "sum": 0.1, "max": 1}
-- fds --
{"t": 0, "pid": 812, "fd": 5, "kind": "socket", "name": "s", "proto": "tcp", "local": "10.0.0.1:80", "remote": "10.0.0.9:4000"}
`

// Each descriptor of the busiest process is a line, and a second without a call has nothing.
func TestCallsAreDrawnByDescriptor(t *testing.T) {
	c, err := rectest.Parse([]byte(relayed))
	if err != nil {
		t.Fatal(err)
	}
	v := verdict.Judge(c.Recording)
	b := &builder{v: v, r: v.Recording, s: v.Scene, limits: limits[0]}
	got := map[string][]float64{}
	for _, w := range b.mostCalls() {
		s, err := parseSelector(w.selector)
		if err != nil {
			t.Fatal(err)
		}
		chart, _ := b.chart(s)
		for _, l := range chart.Lines {
			got[s.name+" "+l.Label] = l.V
		}
	}
	want := map[string][]float64{
		"calls.write_time 4": {0.2, 0, 0}, "calls.write_bytes 4": {1000, 0, 0},
		"calls.write_time 5 tcp 10.0.0.1:80 → 10.0.0.9:4000": {0, 0, 0.9}, "calls.write_bytes 5 tcp 10.0.0.1:80 → 10.0.0.9:4000": {0, 0, 700},
	}
	for k, v := range want {
		if !slices.Equal(got[k], v) {
			t.Errorf("%s: %v, want %v", k, got[k], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
}

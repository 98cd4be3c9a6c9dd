package recording

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const at0 = Time(1_700_000_000_000_000_000)

func sec(s float64) Time { return at0.Add(time.Duration(s * float64(time.Second))) }

func TestCutKeepsHowItBegan(t *testing.T) {
	t.Parallel()
	r := &Recording{Manifest: Manifest{Start: sec(0), End: sec(200)}}
	for _, row := range []Row{
		Fact{T: sec(1), Name: "net.core.somaxconn", Value: "128"},
		Fact{T: sec(50), Name: "net.core.somaxconn", Value: "4096"},
		Link{T: sec(0), Index: 2, Name: "eth0"},
		Process{T: sec(70), PID: 7, Comm: "gone"},
		Process{T: sec(96), PID: 8, Comm: "here"},
		Process{T: sec(101), PID: 8, Comm: "here"},
		Socket{T: sec(40), Cookie: 1, Proto: "tcp", State: "ESTABLISHED", Local: "a:1"},           // idle, seen at the beginning of a piece
		Socket{T: sec(10), Cookie: 2, Proto: "tcp", State: "ESTABLISHED", Local: "a:2"},           // of the piece before: it may be closed
		Socket{T: sec(40), Cookie: 3, Proto: "tcp", State: "ESTABLISHED", Local: "a:3", SendQ: 9}, // what waits has rows every 5 s: it is gone
		Socket{T: sec(92), Cookie: 4, Proto: "tcp", State: "ESTABLISHED", Local: "a:4", SendQ: 9},
		Retransmit{T: sec(99), N: 1}, Retransmit{T: sec(100), N: 2}, Retransmit{T: sec(120), N: 3}, Retransmit{T: sec(121), N: 4},
		Event{T: sec(10), End: sec(20), Kind: EventStopped}, Event{T: sec(10), Kind: EventStopped, Subject: Subject{PID: 3}},
		Event{T: sec(90), End: sec(105), Kind: EventStopped}, Event{T: sec(130), End: sec(131), Kind: EventStopped},
		Coverage{Probe: "host", State: CoverageOK},
	} {
		r.Add(row)
	}
	for i := range 200 {
		r.Series = addPoint(r.Series, "node_load1", sec(float64(i)), float64(i))
	}
	r.Series = append(r.Series, Series{Name: "thin", Points: []Point{{sec(60), 1}, {sec(119), 2}, {sec(180), 3}}}, Series{Name: "over", Points: []Point{{sec(60), 1}}})
	c := r.Cut(sec(100), sec(120))
	if c.Manifest.Start != sec(100) || c.Manifest.End != sec(120) {
		t.Errorf("the window is %s to %s", c.Manifest.Start, c.Manifest.End)
	}
	if len(c.Facts) != 1 || c.Facts[0].Value != "4096" || len(c.Links) != 1 {
		t.Errorf("what stood: %v %v", c.Facts, c.Links)
	}
	var pids []int
	for _, p := range c.Processes {
		pids = append(pids, p.PID)
	}
	if !slices.Equal(pids, []int{8, 8}) {
		t.Errorf("processes %v", pids)
	}
	var socks []uint64
	for _, s := range c.Sockets {
		socks = append(socks, s.Cookie)
	}
	if !slices.Equal(socks, []uint64{1, 4}) {
		t.Errorf("sockets %v", socks)
	}
	n := uint64(0)
	for _, x := range c.Retransmits {
		n += x.N
	}
	if n != 5 {
		t.Errorf("%d segments sent again, not the 5 of that time", n)
	}
	if len(c.Events) != 2 {
		t.Errorf("events %v", c.Events)
	}
	if len(c.Coverage) != 1 {
		t.Errorf("coverage %v", c.Coverage)
	}
	if s := c.Select("node_load1"); len(s) != 1 || len(s[0].Points) != 21 {
		t.Errorf("node_load1: %v", s)
	}
	if s := c.Select("thin"); len(s) != 1 || len(s[0].Points) != 2 || s[0].Points[0].V != 1 {
		t.Errorf("a series of one value has none to compare with: %v", s)
	}
	if s := c.Select("over"); len(s) != 0 {
		t.Errorf("a series that had ended: %v", s)
	}
}

func addPoint(all []Series, name string, at Time, v float64) []Series {
	for i := range all {
		if all[i].Name == name {
			all[i].Points = append(all[i].Points, Point{at, v})
			return all
		}
	}
	return append(all, Series{Name: name, Labels: Labels{}, Points: []Point{{at, v}}})
}

func TestConcat(t *testing.T) {
	t.Parallel()
	a := &Recording{Manifest: Manifest{Start: sec(0), End: sec(60), Host: "h"}, Series: []Series{{Name: "x", Labels: Labels{"a": "1"}, Points: []Point{{sec(59), 1}}}}}
	b := &Recording{Manifest: Manifest{Start: sec(60), End: sec(120), Host: "h"}, Series: []Series{{Name: "x", Labels: Labels{"a": "1"}, Points: []Point{{sec(61), 2}}}}}
	late := &Recording{Manifest: Manifest{Start: sec(150), End: sec(180), Host: "h"}, Damage: []string{"torn"}}
	read, write := Stack{Frames: []string{"read"}}, Stack{Frames: []string{"write"}}
	read.ID, write.ID = 1, 2
	for _, row := range []Row{
		read, Drop{T: sec(1), Stack: 1, N: 1}, Event{T: sec(5), Kind: EventStopped}, Coverage{Probe: "drops", State: CoverageOK, Since: sec(0), Lost: 1, Cost: 0.5, Late: 0.1},
	} {
		a.Add(row)
	}
	write.ID = 1
	again := read
	again.ID = 7
	for _, row := range []Row{
		write, again, Drop{T: sec(61), Stack: 1, N: 1}, Drop{T: sec(62), Stack: 7, N: 1}, Event{T: sec(5), End: sec(70), Kind: EventStopped},
		Coverage{Probe: "drops", State: CoverageOK, Since: sec(60), Lost: 2, Cost: 0.25, Late: 0.3},
	} {
		b.Add(row)
	}
	r, err := Concat([]*Recording{b, a})
	if err != nil {
		t.Fatal(err)
	}
	if r.Manifest.Start != sec(0) || r.Manifest.End != sec(120) || len(r.Series) != 1 || len(r.Series[0].Points) != 2 {
		t.Errorf("%+v %v", r.Manifest, r.Series)
	}
	text := map[int]string{}
	for _, s := range r.Stacks {
		text[s.ID] = s.Frames[0]
	}
	if len(r.Drops) != 3 || text[r.Drops[0].Stack] != "read" || text[r.Drops[1].Stack] != "write" || text[r.Drops[2].Stack] != "read" || len(text) != 2 {
		t.Errorf("stacks %v of %v", text, r.Drops)
	}
	if len(r.Events) != 1 || r.Events[0].End != sec(70) {
		t.Errorf("an event that was written twice: %v", r.Events)
	}
	if c := r.Coverage[0]; len(r.Coverage) != 1 || c.Lost != 3 || c.Cost != 0.75 || c.Late != 0.3 || c.State != CoverageOK || c.Since != sec(0) {
		t.Errorf("coverage %+v", r.Coverage)
	}
	if r, err = Concat([]*Recording{a, b, late}); err != nil || r.Coverage[0].State != CoveragePartial || r.Coverage[0].Why == "" || len(r.Damage) != 1 {
		t.Errorf("nobody recorded for half a minute: %+v, %v", r.Coverage, err)
	}
	if got := r.Unrecorded(); len(got) != 1 || got[0] != (Interval{sec(120), sec(150)}) {
		t.Errorf("not recorded: %v", got)
	}
	cut := r.Cut(sec(140), sec(170))
	if got := cut.Unrecorded(); len(got) != 1 || got[0] != (Interval{sec(120), sec(150)}) {
		t.Errorf("not recorded, of a part: %v", got)
	}
	many := []*Recording{a}
	for _, at := range []float64{100, 200, 300, 400, 500} {
		many = append(many, &Recording{Manifest: Manifest{Start: sec(at), End: sec(at + 50), Host: "h"}})
	}
	if r, err = Concat(many); err != nil || len(r.Unrecorded()) != 5 || !strings.HasSuffix(r.Coverage[0].Why, "; and at 2 more times") {
		t.Errorf("five gaps: %+v, %v", r.Coverage, err)
	}
	if _, err := Concat(nil); err == nil {
		t.Error("nothing was put together")
	}
}

func TestStateIsWhatStands(t *testing.T) {
	t.Parallel()
	var s State
	for _, row := range []Row{
		Fact{T: sec(1), Name: "a", Value: "1"}, Fact{T: sec(2), Name: "a", Value: "2"}, Link{T: sec(30), Netns: 5, Index: 1},
		Library{T: sec(1), PID: 7, Path: "/lib/x"}, Library{T: sec(1), PID: 8, Path: "/lib/x"}, Process{T: sec(1), PID: 7}, Process{T: sec(50), PID: 8},
		Retransmit{T: sec(1)}, Route{T: sec(1), Netns: 6, Dst: "0.0.0.0/0"},
		Event{T: sec(3), End: sec(3), Kind: EventNetnsGone, Subject: Subject{Netns: 6}},
	} {
		s.Take(row)
	}
	s.Prune(sec(60), 30*time.Second)
	var got []Row
	s.Rows(func(r Row) bool { got = append(got, r); return true })
	if len(got) != 3 {
		t.Fatalf("%v", got)
	}
	for _, row := range got {
		switch v := row.(type) {
		case Fact:
			if v.Value != "2" {
				t.Errorf("%v", v)
			}
		case Library:
			if v.PID != 8 {
				t.Errorf("%v", v)
			}
		case Link:
		default:
			t.Errorf("%v", row)
		}
	}
}

// Every table whose rows are written only when something changes is known to Standing. Whoever adds
// a table decides here.
func TestEveryTableStandsOrPasses(t *testing.T) {
	t.Parallel()
	passes := []string{
		"processes", "exits", "threads", "thread_states", "sockets", "drops", "stacks", "connections", "resets", "retransmits", "holds", "turns",
		"flows", "handshakes", "segments", "sip_calls", "ports", "half_open", "errors", "queries", "profile", "oncpu", "loops", "offcpu", "lock_waits", "calls",
		"stream_hops", "stream_files", "requests", "request_seconds", "loads", "load_seconds", "experiments", "events",
	}
	for _, row := range oneOfEach(sec(0), 1) {
		if stands := StateKey(row) != ""; stands == slices.Contains(passes, row.Table()) {
			t.Errorf("table %s stands: %v", row.Table(), stands)
		}
	}
}

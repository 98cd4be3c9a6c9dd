package recorder

import (
	"testing"
	"time"

	"snag/recording"
)

func TestDownsamplingKeepsExtremesAndWhatHappened(t *testing.T) {
	t.Parallel()
	second := func(i int) recording.Time { return noon.Add(time.Duration(i) * time.Second) }
	r := &recording.Recording{Manifest: recording.Manifest{Start: noon, End: second(60)}}
	gauge := recording.Series{Name: "g", Labels: recording.Labels{}}
	counter := recording.Series{Name: "c_total", Labels: recording.Labels{}}
	for i := range 60 {
		v := 1.0
		switch i {
		case 13:
			v = 99
		case 17:
			v = -5
		}
		gauge.Points = append(gauge.Points, recording.Point{T: second(i), V: v})
		counter.Points = append(counter.Points, recording.Point{T: second(i), V: float64(i)})
		q := 0
		if i == 34 {
			q = 5000
		}
		r.Add(recording.Socket{T: second(i), Cookie: 1, Proto: "tcp", Local: "a", RecvQ: q})
		r.Add(recording.Process{T: second(i), PID: 7, State: "S", CPU: float64(i)})
		r.Add(recording.OnCPU{T: second(i), PID: 7, TID: 7 + i%2, Comm: "x", Stack: 1, Hz: 49, N: 2})
		r.Add(recording.Turns{T: second(i), N: 3})
		r.Add(recording.Link{T: second(i), Index: 1, Name: "eth0", MTU: 1500 - i/30})
	}
	r.Series = []recording.Series{counter, gauge}
	out := downsample(r, 10*time.Second)
	g := out.Select("g")[0]
	var seen = map[float64]bool{}
	for _, p := range g.Points {
		seen[p.V] = true
	}
	if !seen[99] || !seen[-5] || len(g.Points) > 6+2 {
		t.Errorf("extremes of the gauge: %v", g.Points)
	}
	c := out.Select("c_total")[0]
	if n, _ := c.Increase(); n != 59 || len(c.Points) != 12 {
		t.Errorf("the counter grew by %v in %d points", n, len(c.Points))
	}
	most := 0
	for _, s := range out.Sockets {
		most = max(most, s.RecvQ)
	}
	if most != 5000 || len(out.Sockets) != 7 {
		t.Errorf("%d rows of a socket, at the most %d bytes", len(out.Sockets), most)
	}
	if len(out.Processes) != 6 || out.Processes[5].CPU != 59 {
		t.Errorf("processes %v", out.Processes)
	}
	n := uint64(0)
	for _, s := range out.OnCPU {
		n += s.N
	}
	if n != 120 || len(out.OnCPU) != 6 {
		t.Errorf("%d samples in %d rows", n, len(out.OnCPU))
	}
	if len(out.Turns) != 60 {
		t.Errorf("%d seconds of requests", len(out.Turns))
	}
	if len(out.Links) != 2 {
		t.Errorf("state rows that did not change were kept: %v", out.Links)
	}
	if again := downsample(out, 10*time.Second); len(again.Sockets) != len(out.Sockets) || len(again.Select("g")[0].Points) != len(g.Points) {
		t.Error("what is thin becomes thinner by the same step")
	}
}

// Rows that are not merged have a budget of their own for each step: what is beyond it is left out evenly and counted
// in the coverage, and many of one kind take nothing from another.
func TestRowsThatAreNotMergedHaveABudget(t *testing.T) {
	t.Parallel()
	second := func(i int) recording.Time { return noon.Add(time.Duration(i) * time.Second) }
	r := &recording.Recording{Manifest: recording.Manifest{Start: noon, End: second(20)}}
	r.Add(recording.Coverage{Probe: "sockets", State: recording.CoverageOK, Lost: 5})
	for i := range 20 {
		for n := range 250 {
			r.Add(recording.Reset{T: second(i), N: uint64(1 + n)})
			r.Add(recording.Event{T: second(i), Kind: recording.EventSignal})
			if n == 100 { // a row that would be left out among the others
				r.Add(recording.Event{T: second(i), Kind: recording.EventStreamFreeze})
			}
			r.Add(recording.Stack{ID: 1000*i + n})
		}
		r.Add(recording.Turns{T: second(i), N: 3})
	}
	out := downsample(r, 10*time.Second)
	if n := len(out.Resets); n != 20*mostRows {
		t.Errorf("%d resets are kept in two steps, want %d", n, 20*mostRows)
	}
	perSecond := map[recording.Time]int{}
	for _, row := range out.Resets {
		perSecond[row.T]++
	}
	for at, n := range perSecond {
		if n != mostRows {
			t.Errorf("%d of %s: they are not spread evenly", n, at.Wall())
		}
	}
	freezes := 0
	for _, e := range out.Events {
		if e.Kind == recording.EventStreamFreeze {
			freezes++
		}
	}
	if len(out.Turns) != 20 || freezes != 20 || len(out.Stacks) != 20*250 {
		t.Errorf("%d seconds of requests, %d freezes, %d stacks", len(out.Turns), freezes, len(out.Stacks))
	}
	c, measured := out.Measured("sockets.resets")
	if !measured || c.State != recording.CoveragePartial || c.Lost != 5+20*(250-mostRows) || c.Why == "" {
		t.Errorf("coverage of the resets: %+v", c)
	}
	if c, _ := out.Measured("sockets.turns"); c.Lost != 5 || c.State != recording.CoverageOK {
		t.Errorf("coverage of the requests: %+v", c)
	}
	if again := downsample(out, time.Minute); len(again.Resets) != len(out.Resets) {
		t.Errorf("%d resets after another step", len(again.Resets))
	}
}

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

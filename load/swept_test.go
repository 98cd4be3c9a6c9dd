package load

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/load/shape"
)

func sweepOf(to Target, from, most float64) Sweep {
	p := plan(to)
	p.For, p.Timeout = 100*time.Millisecond, 300*time.Millisecond
	return Sweep{Plan: p, From: from, To: most, Conns: []int{2}, Repeats: 3, Seed: 1}
}

// Each repeat has every rate once, in an order of its own; the rates at which a connection is asked every 40 ms are
// those of each number of connections.
func TestSteps(t *testing.T) {
	t.Parallel()
	s := Sweep{Plan: Plan{For: time.Second}, From: 10, To: 40_000, Conns: []int{1, 64}, Repeats: 3, Seed: 7}
	steps := s.Steps()
	near := func(conns int, want float64) bool {
		return slices.ContainsFunc(steps, func(p Plan) bool { return p.Conns == conns && p.Rate > 0.85*want && p.Rate < 1.18*want })
	}
	for _, conns := range s.Conns {
		for _, times := range []float64{0.5, 1, 2} {
			if at := float64(conns) / 0.04 * times; !near(conns, at) {
				t.Errorf("on %d connections none is near %g requests/s", conns, at)
			}
		}
	}
	each := len(steps) / 3
	var passes [3][]float64
	for i, p := range steps {
		passes[i/each] = append(passes[i/each], p.Rate*1000+float64(p.Conns))
	}
	sorted := slices.IsSorted(passes[0]) || slices.Equal(passes[0], passes[1])
	for i := range passes {
		slices.Sort(passes[i])
	}
	if sorted || !slices.Equal(passes[0], passes[1]) || !slices.Equal(passes[1], passes[2]) {
		t.Errorf("%v", passes)
	}
	if one := (Sweep{Plan: s.Plan, From: 100, To: 100, Conns: []int{1, 2}, Repeats: 1}).Steps(); len(one) != 2 || one[0].Rate != 100 {
		t.Errorf("one rate: %+v", one)
	}
}

// What was measured before an interrupt stays, and nothing is tried after it.
func TestAnInterruptedSweep(t *testing.T) {
	to := null(t, "tcp://127.0.0.1:1", Request{Size: 64, Reply: 64})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := sweepOf(to, 100, 800)
	got, err := RunSweep(ctx, s, func(n, _ int, _ shape.Point) {
		if n == 2 {
			cancel()
		}
	})
	if err != nil || len(got.Points) != 2 || got.Ended != interrupted || got.Of != len(s.Steps()) || got.Points[1].P50 == 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	hump := shape.Point{Rate: 100, Conns: 2, Answers: 100, P50: 0.041, Mean: 0.041, Sent: 100}
	beyond := shape.Point{Rate: 800, Conns: 2, Answers: 800, P50: 0.001, Mean: 0.001, Sent: 800}
	over := shape.Point{Rate: 1600, Conns: 2, Answers: 900, P50: 0.01, Mean: 0.01, Sent: 900}
	read := Read(ctx, s, []shape.Point{hump, hump, beyond, beyond, over, over}, func(text string) { t.Errorf("it tries: %s", text) })
	all := strings.Join(read.Sentences, "\n")
	if read.Hump == nil || read.Knee == nil || read.Freed != "" || strings.Count(all, "not run to its end (interrupted)") < 2 || strings.Contains(all, "Neither TCP_NODELAY") {
		t.Errorf("%+v", read)
	}
	if _, err := RunSweep(ctx, s, func(int, int, shape.Point) {}); err == nil || !strings.Contains(err.Error(), "nothing was measured") {
		t.Errorf("interrupted before it began: %v", err)
	}
}

// A service that goes away in the middle of a sweep ends it, and what was measured of it stays.
func TestAServiceThatGoes(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go echoes(l)
	s := sweepOf(target(t, "tcp://"+l.Addr().String(), Request{Size: 64, Reply: 64}), 100, 800)
	got, err := RunSweep(context.Background(), s, func(n, _ int, _ shape.Point) {
		if n == 2 {
			l.Close()
		}
	})
	if err != nil || len(got.Points) != 2+mostFailed || !strings.Contains(got.Ended, "3 steps in a row failed") || !strings.Contains(got.Ended, string(Refused)) {
		t.Fatalf("%+v, %v", got, err)
	}
	if p := got.Points[3]; !p.Failed || !strings.Contains(p.Why, string(Refused)) || p.P50 != 0 || got.Points[1].Failed {
		t.Errorf("%+v", got.Points)
	}
	_, err = RunSweep(context.Background(), s, func(int, int, shape.Point) {})
	if err == nil || !strings.Contains(err.Error(), "step 1 of") {
		t.Errorf("nothing listens from the beginning: %v", err)
	}
}

// A step that fails once is a point without figures, and the next steps run.
func TestAStepThatFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go echoes(l)
	s := sweepOf(target(t, "tcp://"+l.Addr().String(), Request{Size: 64, Reply: 64}), 100, 800)
	got, err := RunSweep(context.Background(), s, func(n, _ int, _ shape.Point) {
		switch n {
		case 1:
			l.Close()
		case 2:
			if l, err = net.Listen("tcp", l.Addr().String()); err != nil {
				t.Fatal(err)
			}
			go echoes(l)
		}
	})
	defer l.Close()
	if err != nil || got.Ended != "" || len(got.Points) != got.Of {
		t.Fatalf("%+v, %v", got, err)
	}
	failed := 0
	for _, p := range got.Points {
		if p.Failed {
			failed++
		}
	}
	if failed != 1 || !got.Points[1].Failed {
		t.Errorf("%d failed: %+v", failed, got.Points)
	}
}

// echoes answers what comes on each connection with the same.
func echoes(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			b := make([]byte, 4096)
			for {
				n, err := c.Read(b)
				if err != nil {
					return
				}
				if _, err := c.Write(b[:n]); err != nil {
					return
				}
			}
		}()
	}
}

func TestNoPointCounts(t *testing.T) {
	t.Parallel()
	bad, good := shape.Point{Why: "snag was late"}, shape.Point{}
	if s := (Swept{Points: []shape.Point{bad, bad}}); !s.NotOurs() {
		t.Error("no point is the service's")
	}
	if s := (Swept{Points: []shape.Point{bad, good}}); s.NotOurs() {
		t.Error("one is")
	}
}

package drawn

import (
	"math"
	"testing"
	"time"
)

// A value depends on seed, family and name alone.
func TestValuesAreTheDraws(t *testing.T) {
	a, b := NewDraw(8, "redis"), NewDraw(8, "redis")
	first := a.LogUniform("rate", 1, 100)
	b.Int("clients", 1, 50) // asked for in another order
	b.Chance("far away", 0.5)
	if again := b.LogUniform("rate", 1, 100); again != first {
		t.Errorf("%v and %v in another order", first, again)
	}
	if other := NewDraw(10, "redis").LogUniform("rate", 1, 100); other == first {
		t.Error("another seed gives the same rate")
	}
	if other := NewDraw(8, "nginx").LogUniform("rate", 1, 100); other == first {
		t.Error("another family gives the same rate")
	}
	if a.Values["rate"] != first {
		t.Errorf("kept %v", a.Values)
	}
}

// Over many seeds the values fill their range as they are said to.
func TestRanges(t *testing.T) {
	const n = 4000
	var logs, uniforms, chances float64
	ints := map[int]int{}
	for seed := range uint64(n) {
		d := NewDraw(seed, "x")
		v := d.LogUniform("log", 1, 100)
		if v < 1 || v > 100 {
			t.Fatal(v)
		}
		logs += math.Log10(v) / n
		uniforms += d.Uniform("uniform", 2, 4) / n
		if d.Chance("chance", 0.3) {
			chances += 1.0 / n
		}
		i := d.Int("int", 1, 4)
		if i < 1 || i > 4 {
			t.Fatal(i)
		}
		ints[i]++
		if x := d.Duration("time", time.Millisecond, time.Second); x < time.Millisecond || x > time.Second {
			t.Fatal(x)
		}
	}
	if math.Abs(logs-1) > 0.05 || math.Abs(uniforms-3) > 0.05 || math.Abs(chances-0.3) > 0.03 || len(ints) != 4 || ints[1] < ints[4] {
		t.Errorf("means %.2f %.2f %.2f, ints %v", logs, uniforms, chances, ints)
	}
}

func TestSchedule(t *testing.T) {
	seen := map[Lasting]int{}
	for seed := range uint64(400) {
		d := NewDraw(seed, "x")
		how, spans := scheduleOf(d, Fault{Name: "a"}, 8)
		seen[how]++
		on, last := 0.0, -before
		for _, s := range spans {
			if s.From < last || s.To <= s.From || s.To > 8 {
				t.Fatalf("seed %d: %v %v", seed, how, spans)
			}
			last = s.To
			on += s.To - max(0, s.From)
		}
		if on < 8*0.2 || how != Throughout && on > 8*0.85 {
			t.Errorf("seed %d: %s is on for %.1f of 8 s: %v", seed, how, on, spans)
		}
		if whole, _ := scheduleOf(NewDraw(seed, "x"), Fault{Whole: true}, 8); whole != Throughout {
			t.Error("a fault that is built in comes and goes")
		}
		if how, again := scheduleOf(NewDraw(seed, "x"), Fault{Name: "b"}, 8); how == Episodes && again[0] != spans[0] {
			t.Error("the healthy run's schedule is another")
		}
	}
	for _, how := range []Lasting{Throughout, Episodes, Begins, Ends} {
		if seen[how] < 40 {
			t.Errorf("%s in %d of 400", how, seen[how])
		}
	}
}

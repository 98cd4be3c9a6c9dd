package profile

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"snag/recording"
)

// sampled makes a recording of so many seconds: shares of functions, samples a
// second, and how alike the samples of a second are (1: one function alone runs in
// each second; 0: each sample is of its own).
func sampled(rnd *rand.Rand, seconds, each int, alike float64, shares map[string]float64) *recording.Recording {
	r := &recording.Recording{Coverage: []recording.Coverage{{Probe: "oncpu.stacks", State: recording.CoverageOK}}}
	ids := map[string]int{}
	var names []string
	for _, name := range []string{"a", "b", "c", "d", "hot"} {
		if shares[name] > 0 {
			names = append(names, name)
			ids[name] = len(names)
			r.Stacks = append(r.Stacks, recording.Stack{ID: len(names), Frames: []string{name, "main"}, Objects: []string{"/x", "/x"}})
		}
	}
	draw := func() string {
		u := rnd.Float64()
		for _, name := range names {
			if u -= shares[name]; u < 0 {
				return name
			}
		}
		return names[0]
	}
	for t := range seconds {
		burst := draw()
		n := map[string]uint64{}
		for range each {
			if rnd.Float64() < alike {
				n[burst]++
			} else {
				n[draw()]++
			}
		}
		for _, name := range names {
			if n[name] > 0 {
				r.OnCPU = append(r.OnCPU, recording.OnCPU{T: recording.Time(t) * 1e9, PID: 7, TID: 7, Comm: "x", Stack: ids[name], N: n[name], Hz: 99})
			}
		}
	}
	return r
}

func compared(t *testing.T, a, b *recording.Recording) *Diff {
	t.Helper()
	d, err := Compare(a, b, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func changeOf(d *Diff, name string) Change {
	for _, c := range d.Self {
		if c.Function == name {
			return c
		}
	}
	return Change{}
}

var usual = map[string]float64{"a": 0.5, "b": 0.3, "c": 0.15, "d": 0.05}

func TestAChangeIsFound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	d := compared(t, sampled(rnd, 30, 99, 0, usual), sampled(rnd, 30, 99, 0, map[string]float64{"a": 0.4, "b": 0.3, "c": 0.15, "d": 0.05, "hot": 0.1}))
	hot, a, b := changeOf(d, "hot"), changeOf(d, "a"), changeOf(d, "b")
	if hot.Noise() || hot.InA || hot.Low > 0.1 || hot.High < 0.1 || a.Noise() || a.High >= 0 {
		t.Errorf("hot %+v, a %+v", hot, a)
	}
	if !b.Noise() {
		t.Errorf("b kept its share: %+v", b)
	}
	if d.Self[0].Function != "hot" && d.Self[0].Function != "a" || math.Abs(d.OnlyB-hot.B) > 1e-9 || d.OnlyA != 0 {
		t.Errorf("%+v", d)
	}
	var out bytes.Buffer
	if err := d.WriteText(&out, DiffOptions{TextOptions: TextOptions{Most: 5}, NameA: "good", NameB: "bad"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"A good: 2,970 samples", "not seen", "in functions that A never runs", "2 of 5 changed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

// Of comparisons of one thing with itself few may name any function: at most one in
// twenty where each sample is of its own, and hardly more where they come in bursts,
// which intervals by the number of samples would take for changes nearly always.
func TestChanceIsToldFromChange(t *testing.T) {
	for _, c := range []struct {
		name           string
		seconds        int
		alike          float64
		most, leastRaw int
	}{
		{"even", 30, 0, 20, 0},
		{"bursts", 60, 0.7, 24, 100},
	} {
		rnd := rand.New(rand.NewPCG(3, 4))
		wrong, raw := 0, 0
		const runs = 200
		for range runs {
			d := compared(t, sampled(rnd, c.seconds, 99, c.alike, usual), sampled(rnd, c.seconds, 99, c.alike, usual))
			any, anyRaw := false, false
			for _, ch := range d.Self {
				any = any || !ch.Noise()
				n := float64(99 * c.seconds)
				anyRaw = anyRaw || !ByChance(ch.A, n, ch.B, n, len(d.Self))
			}
			if any {
				wrong++
			}
			if anyRaw {
				raw++
			}
		}
		if wrong > c.most || raw < c.leastRaw {
			t.Errorf("%s: %d of %d comparisons of the same name a change; by the number of samples alone %d", c.name, wrong, runs, raw)
		}
	}
}

func TestSamplesOfDifferentWeightsAreWorthLess(t *testing.T) {
	r := &recording.Recording{Coverage: []recording.Coverage{{Probe: "oncpu.stacks", State: recording.CoverageOK}}, Stacks: []recording.Stack{{ID: 1, Frames: []string{"f"}}, {ID: 2, Frames: []string{"g"}}}}
	for i := range 100 {
		w := 1.0
		if i == 0 {
			w = 900
		}
		r.OnCPU = append(r.OnCPU, recording.OnCPU{PID: 7, Comm: "x", Stack: 1 + i%2, N: 1, Event: "cycles", Weight: w})
	}
	// (Σw)²/Σw²: 999²/(900²+99)
	if got := Looks(r, "cycles"); got < 1.2 || got > 1.3 {
		t.Errorf("100 samples of which one weighs nearly all are worth %v", got)
	}
}

func TestNewcombeIsThePublishedInterval(t *testing.T) {
	// Newcombe 1998, table II: 56/70 − 48/80, method 10: 0.0524 to 0.3339.
	low, high := difference(share{48.0 / 80, 80}, share{56.0 / 70, 70}, 1.959964, 1.959964)
	if math.Abs(low-0.0524) > 1e-4 || math.Abs(high-0.3339) > 1e-4 {
		t.Errorf("%.4f to %.4f", low, high)
	}
}

func TestEventsAreShownInTheirUnit(t *testing.T) {
	r := &recording.Recording{Coverage: []recording.Coverage{{Probe: "oncpu.stacks", State: recording.CoverageOK}}, Stacks: []recording.Stack{{ID: 1, Frames: []string{"f"}}, {ID: 2, Frames: []string{"g"}}}}
	r.OnCPU = []recording.OnCPU{
		{PID: 7, Comm: "x", Stack: 1, N: 3, Event: "cycles", Weight: 3e6},
		{PID: 7, Comm: "x", Stack: 2, N: 1, Event: "cycles", Weight: 9e6},
		{PID: 7, Comm: "x", Stack: 2, N: 5, Event: "page-faults"},
	}
	if all := Events(r); len(all) != 2 || all[0] != "page-faults" {
		t.Fatal(all)
	}
	p, err := From(r, Options{Kind: OnCPU, Event: "cycles"})
	if err != nil || p.Unit != "cycles" || p.Total() != 12e6 || p.Hz != 0 {
		t.Fatalf("%+v %v", p, err)
	}
	top := p.Top(5)
	if top.Lines[0].Function != "g" || top.Lines[0].Self != 9e6 {
		t.Errorf("%+v", top.Lines)
	}
	var out bytes.Buffer
	if err := p.WriteText(&out, TextOptions{Most: 5}); err != nil || !strings.Contains(out.String(), "cycles: 4 samples, which stand for 12,000,000 cycles") || strings.Contains(out.String(), "CPUs' worth") {
		t.Errorf("%v\n%s", err, out.String())
	}
	out.Reset()
	if err := p.WriteFolded(&out); err != nil || !strings.Contains(out.String(), "x[7];g 9000000\n") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if s := p.pprof().SampleType[1]; s.Type != "cycles" || s.Unit != "count" {
		t.Errorf("%+v", s)
	}
	p, err = From(r, Options{Kind: OnCPU})
	if err != nil || p.Event != "page-faults" || p.Unit != Samples || p.Total() != 5 {
		t.Errorf("%+v %v", p, err)
	}
}

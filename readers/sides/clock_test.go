package sides

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Of clocks that run evenly the offset is always within the bound, and the bound is
// at most half of the shortest round trip and what is left of the drift.
func TestClocks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		ahead := (rnd.Float64() - 0.5) * 1e12
		drift := (rnd.Float64() - 0.5) * 4e-4
		out, back, jitter := rnd.Float64()*0.05, rnd.Float64()*0.05, rnd.Float64()*0.02
		length := 10 + rnd.Float64()*3000
		// by is what the second clock shows at a time of the first, ns.
		by := func(a float64) float64 { return a + ahead + drift*a }
		c := newClocks(int64(by(0)), int64(ahead))
		const n = 3000
		for i := range n {
			a := float64(i) / n * length * 1e9
			c.sent(int64(a), int64(by(a+(out+rnd.Float64()*jitter)*1e9)))
			a += 1e6
			c.answered(int64(by(a)), int64(a+(back+rnd.Float64()*jitter)*1e9))
		}
		for i := range 20 {
			a := float64(i) / 20 * length * 1e9
			got, bound, ok := c.offset(int64(by(a)))
			want := by(a) - a
			if !ok || math.Abs(got-want) > bound {
				t.Fatalf("offset %.0f ns, and it is %.0f; said to be within %.0f (%v); ways %.4f and %.4f s, drift %g, over %.0f s", got, want, bound, ok, out, back, drift, length)
			}
			if bound > ((out+back)/2+jitter)*1e9*1.5+3000 && i > 0 {
				t.Errorf("a bound of %.0f ns with ways of %.4f and %.4f s, jitter %.4f", bound, out, back, jitter)
			}
		}
	}
}

// A clock that is set is compared before and after.
func TestClockIsSet(t *testing.T) {
	c := newClocks(0, 0)
	for i := range 2000 {
		a := int64(i) * 50e6
		step := int64(0)
		if a > 60e9 {
			step = 3e9
		}
		c.sent(a, a+step+1e6)
		c.answered(a+step+2e6, a+3e6)
	}
	if o := c.told(); !o.Known || o.Pieces < 2 {
		t.Fatalf("%+v", o)
	}
	for at, want := range map[int64]float64{20e9: 0, 90e9: 3e9} {
		got, bound, ok := c.offset(at + int64(want))
		if !ok || math.Abs(got-want) > bound || bound > 3e6 {
			t.Errorf("at %d: %.0f ± %.0f (%v), want %.0f", at, got, bound, ok, want)
		}
	}
}

func TestClocksOfOneDirection(t *testing.T) {
	c := newClocks(0, 0)
	c.sent(1, 2)
	if _, _, ok := c.offset(1); ok {
		t.Error("one direction bounds nothing")
	}
}

// An offset that was told is exact, and one that can't be true is said to be.
func TestAToldOffset(t *testing.T) {
	const ms = int64(1e6)
	for _, c := range []struct {
		name  string
		ahead int64 // that is told, ns
		early float64
	}{
		{"as it is", 0, 0},
		{"within what is possible", 3 * ms, 0},
		{"impossible", 50 * ms, 0.0195},
	} {
		k := newClocks(0, 0)
		for i := range int64(20) { // 10 ms out and 50 ms back, clocks that agree
			at := i * 100 * ms
			k.sent(at, at+10*ms)
			k.answered(at+20*ms, at+70*ms)
		}
		k.set(c.ahead)
		o := k.told()
		if !o.Known || !o.Asked || o.Ahead != float64(c.ahead)/1e9 || o.Bound > 2e-6 || o.Early < c.early || (c.early == 0) != (o.Early == 0) {
			t.Errorf("%s: %+v", c.name, o)
		}
		if c.ahead != 0 {
			continue
		}
		took, bound, ok := k.transit(0, 0, 10*ms)
		if !ok || took < float64(10*ms)-5e3 || took > float64(10*ms)+5e3 || bound > 5e3 {
			t.Errorf("%s: %g ns, within %g", c.name, took, bound)
		}
	}
}

package verdict

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"
	"time"

	"snag/recording"
)

// randomly are n times in the minute, in order.
func randomly(rng *rand.Rand, n int) []float64 {
	var out []float64
	for range n {
		out = append(out, 58*rng.Float64())
	}
	sort.Float64s(out)
	return out
}

// What has nothing to do with each other coincides by chance: of many such pairs
// no more than 1 in 20 reaches P ≤ 0.05, 1 in 5 P ≤ 0.2, and so on.
func TestChanceIsWhatItSays(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const pairs = 2000
	below := map[float64]int{0.05: 0, 0.2: 0, 0.5: 0}
	proves, sum := 0, 0.0
	for range pairs {
		c := Coincide(spansAt(1, randomly(rng, 8)...), onsetsAt(randomly(rng, 10)...), minute, time.Second)
		if !c.Exact || c.P <= 0 || c.P > 1 {
			t.Fatalf("%+v", c)
		}
		for p := range below {
			if c.P <= p {
				below[p]++
			}
		}
		if c.Proves() {
			proves++
		}
		sum += c.P
	}
	for p, n := range below {
		// Three standard deviations of a count; P is a step function, so fewer is right too.
		if most := pairs*p + 3*math.Sqrt(pairs*p*(1-p)); float64(n) > most {
			t.Errorf("%d of %d independent pairs have P ≤ %g, at most %.0f may", n, pairs, p, most)
		}
	}
	if mean := sum / pairs; mean < 0.5 || mean > 0.75 {
		t.Errorf("the mean P of independent pairs is %.2f", mean)
	}
	if proves > pairs/100 {
		t.Errorf("%d of %d independent pairs are taken for proof", proves, pairs)
	}
}

func TestWhatIsCoupledIsProved(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		starts := randomly(rng, 7)
		var onsets []float64
		for _, s := range starts {
			onsets = append(onsets, s+rng.Float64()) // inside, or within the lag
		}
		c := Coincide(spansAt(0.5, starts...), onsetsAt(onsets...), minute, time.Second)
		if c.Hits != 7 || c.P > 0.05 && c.Covered < 0.15 {
			t.Fatalf("7 onsets at %v on causes at %v: %+v", onsets, starts, c)
		}
	}
}

func TestARhythmInCommonIsNoProof(t *testing.T) {
	// Both come every 10 s, for reasons of their own: they meet each time, at
	// any phase in which they meet at all, which is 2 s of 10.
	var causes, effects []float64
	for s := 2.0; s < 60; s += 10 {
		causes, effects = append(causes, s), append(effects, s+0.7)
	}
	c := Coincide(spansAt(1, causes...), onsetsAt(effects...), minute, time.Second)
	if c.Hits != 6 || math.Abs(c.P-0.2) > 0.001 || c.Proves() {
		t.Errorf("%+v, want 6 hits, P 0.2, no proof", c)
	}
	// The same without a rhythm is one.
	c = Coincide(spansAt(1, 2, 9, 23, 31, 47, 52), onsetsAt(2.7, 9.7, 23.7, 31.7, 47.7, 52.7), minute, time.Second)
	if !c.Proves() {
		t.Errorf("%+v, want proof", c)
	}
}

func TestEveryShiftAgainstTryingThem(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 30 {
		causes, onsets := spansAt(3*rng.Float64(), randomly(rng, 5)...), onsetsAt(randomly(rng, 6)...)
		spans := merge(causes, minute, 500*time.Millisecond)
		for least := range 4 {
			exact := everyShift(spans, onsets, minute, least)
			const tries = 6000
			many := 0
			for i := range tries {
				n := 0
				for _, o := range onsets {
					if hits(spans, o, minute, time.Duration((float64(i)+0.5)/tries*60e9)) {
						n++
					}
				}
				if n >= least {
					many++
				}
			}
			if tried := float64(many) / tries; math.Abs(tried-exact) > 0.005 {
				t.Fatalf("%d hits or more: exactly %.4f, tried %.4f", least, exact, tried)
			}
			if least > 0 {
				if sampled := someShifts(spans, onsets, minute, least); math.Abs(sampled-exact) > 0.015 {
					t.Fatalf("%d hits or more: exactly %.4f, sampled %.4f", least, exact, sampled)
				}
			}
		}
	}
}

func TestManyAreSampled(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	long := recording.Interval{Start: minute.Start, End: minute.Start.Add(2000 * time.Second)}
	var spans []recording.Interval
	var onsets []recording.Time
	for range 200 {
		s := long.Start.Add(time.Duration(1990e9 * rng.Float64()))
		spans = append(spans, recording.Interval{Start: s, End: s.Add(20 * time.Millisecond)})
		onsets = append(onsets, s.Add(10*time.Millisecond))
	}
	c := Coincide(spans, onsets, long, 0)
	if c.Exact || c.Hits != 200 || c.P > 0.005 || !c.Proves() {
		t.Errorf("%+v, want a sample and all hit", c)
	}
}

func TestACauseOfAPartIsNotRefuted(t *testing.T) {
	// Three of twelve onsets fall on three short pauses: few, but hardly by chance.
	onsets := onsetsAt(2, 6, 10.2, 15, 19, 24, 27.2, 33, 38, 42, 49.2, 55)
	c := Coincide(spansAt(0.2, 10.1, 27.1, 49.1), onsets, minute, 100*time.Millisecond)
	if c.Hits != 3 || c.Refutes() || c.Proves() || c.P > 0.05 {
		t.Errorf("%+v", c)
	}
	// On long ones chance gives as many.
	c = Coincide(spansAt(5, 10.1, 27.1, 44), onsets, minute, 100*time.Millisecond)
	if c.P <= 0.05 {
		t.Errorf("%+v", c)
	}
}

package ablate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What is said of settings in worlds that nobody thought of: some of many do something,
// each by a factor of its own, in noise of some kind. A claim is wrong where the truth
// is on the other side of the smallest effect.
func TestRandomWorlds(t *testing.T) {
	const worlds = 400
	wrong, claims, told := 0, 0, 0
	for seed := range uint64(worlds) {
		r := rand.New(rand.NewPCG(seed, 99))
		n := 1 + r.IntN(20)
		factors := make([]float64, n)
		for i := range factors {
			factors[i] = 1
			if r.Float64() < 0.2 {
				factors[i] = math.Exp(r.NormFloat64() * 0.4)
			}
		}
		noise := []func(*rand.Rand) float64{gauss(0.02), heavy(0.02), late(0.05)}[r.IntN(3)]
		w := world{n: n, higher: r.IntN(2) == 0, noise: noise, drift: r.Float64() * 0.0005, truth: func(on []bool) float64 {
			y := 100.0
			for i, is := range on {
				if is {
					y *= factors[i]
				}
			}
			return y
		}}
		bad := false
		for _, s := range w.run(t, seed, 30).Settings {
			effect := math.Log(factors[s.Index])
			if !w.higher {
				effect = -effect
			}
			small := math.Log1p(0.05)
			claims++
			if s.Verdict != CantTell {
				told++
			}
			switch s.Verdict {
			case DidIt:
				bad = bad || effect < small
			case DoesHurt:
				bad = bad || effect > -small
			case EitherOf:
				bad = true // none stands in for another here
			case DoesNone:
				bad = bad || math.Abs(effect) > small
			}
		}
		if bad {
			wrong++
		}
	}
	t.Logf("%d of %d worlds with a wrong claim; %d of %d settings told", wrong, worlds, told, claims)
	if wrong > worlds*5/100 {
		t.Errorf("a wrong claim in %d of %d worlds", wrong, worlds)
	}
	if told < claims*8/10 {
		t.Errorf("only %d of %d settings are told", told, claims)
	}
}

package ablate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// world is a machine with known truth: the figure by the settings that are on, and
// noise.
type world struct {
	n      int
	truth  func(on []bool) float64
	noise  func(r *rand.Rand) float64 // a factor
	drift  float64                    // of the figure, a run
	grain  float64
	higher bool
}

func gauss(sd float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return 1 + sd*r.NormFloat64() }
}

// heavy is Student's t with 3 degrees of freedom: one run in a hundred is far out.
func heavy(sd float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		chi := 0.0
		for range 3 {
			x := r.NormFloat64()
			chi += x * x
		}
		return 1 + sd*r.NormFloat64()/math.Sqrt(chi/3)
	}
}

// late is of a latency: never much less, sometimes much more.
func late(sd float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return math.Exp(sd*r.NormFloat64() - sd*sd/2) }
}

func (w world) run(t testing.TB, seed uint64, rounds int) *Result {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	runs := 0
	res, err := Run(context.Background(), Options{Settings: w.n, Higher: w.higher, Grain: w.grain, Ratio: w.grain == 0, Rounds: rounds, Rand: rand.New(rand.NewPCG(seed, 8))},
		func(_ context.Context, on []bool) (float64, error) {
			runs++
			return w.truth(on) * w.noise(r) * (1 + w.drift*float64(runs)), nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if res.Runs != runs {
		t.Fatalf("%d runs are counted of %d", res.Runs, runs)
	}
	return res
}

func verdicts(r *Result, v Verdict) (all []int) {
	for _, s := range r.Settings {
		if s.Verdict == v {
			all = append(all, s.Index)
		}
	}
	return all
}

// one is a setting of nine that is worth 40 %.
func one(on []bool) float64 {
	if on[4] {
		return 100
	}
	return 60
}

func none([]bool) float64 { return 100 }

const simulations = 500

// What a setting does is found, and what does nothing is not accused, in all sorts of
// noise; the intervals hold together as often as they say.
func TestOneOfNine(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of simulated studies")
	}
	for name, w := range map[string]world{
		"quiet":         {noise: gauss(0.01)},
		"noisy":         {noise: gauss(0.04)},
		"drifting":      {noise: gauss(0.02), drift: 0.001},
		"heavy tails":   {noise: heavy(0.02)},
		"late":          {noise: late(0.04)},
		"a lot of late": {noise: late(0.2)},
	} {
		t.Run(name, func(t *testing.T) {
			w.n, w.truth, w.higher = 9, one, true
			found, wrong, held, runs, nothing := 0, 0, 0, 0, 0
			for seed := range simulations {
				r := w.run(t, uint64(seed), 30)
				did := verdicts(r, DidIt)
				if slices.Contains(did, 4) {
					found++
				}
				if len(did) > 1 || len(did) == 1 && did[0] != 4 || len(verdicts(r, EitherOf)) > 0 || len(verdicts(r, DoesHurt)) > 0 {
					wrong++
				}
				if covered(r, func(i int) float64 {
					if i == 4 {
						return 100.0/60 - 1
					}
					return 0
				}) {
					held++
				}
				nothing += len(verdicts(r, DoesNone))
				runs += r.Runs
			}
			t.Logf("found %d, wrong %d, all intervals held %d of %d; %.1f of 8 told to do nothing, %d runs on average", found, wrong, held, simulations, float64(nothing)/simulations, runs/simulations)
			if found < simulations*95/100 && name != "a lot of late" {
				t.Errorf("found in %d of %d", found, simulations)
			}
			if wrong > simulations*5/100 {
				t.Errorf("accused wrongly in %d of %d", wrong, simulations)
			}
			if held < simulations*93/100 {
				t.Errorf("all intervals held in %d of %d, want 95 %%", held, simulations)
			}
		})
	}
}

// covered tells whether every interval of a study holds the truth.
func covered(r *Result, truth func(i int) float64) bool {
	for _, s := range r.Settings {
		want := truth(s.Index)
		if len(s.Group) > 0 {
			want = 0
			for _, i := range s.Group {
				want += truth(i)
			}
		}
		if !s.Open && (s.Interval.Low > want || s.Interval.High < want) {
			return false
		}
	}
	return true
}

func TestNothingMatters(t *testing.T) {
	for name, noise := range map[string]func(*rand.Rand) float64{"quiet": gauss(0.01), "noisy": gauss(0.1), "heavy": heavy(0.05), "late": late(0.3)} {
		wrong, cleared := 0, 0
		for seed := range simulations {
			r := world{n: 9, truth: none, noise: noise}.run(t, uint64(seed), 20)
			if len(verdicts(r, DidIt))+len(verdicts(r, DoesHurt))+len(verdicts(r, EitherOf)) > 0 {
				wrong++
			}
			cleared += len(verdicts(r, DoesNone))
		}
		t.Logf("%s: %d of %d accuse; %.1f of 9 cleared", name, wrong, simulations, float64(cleared)/simulations)
		if wrong > simulations*5/100 {
			t.Errorf("%s: accused in %d of %d", name, wrong, simulations)
		}
		if name == "quiet" && cleared < simulations*9*95/100 {
			t.Errorf("quiet: cleared only %d of %d", cleared, simulations*9)
		}
	}
}

// Each kind of truth is told as what it is.
func TestKindsOfTruth(t *testing.T) {
	is := func(all ...int) []int { return all }
	for name, c := range map[string]struct {
		w            world
		did, either  []int
		hurts, nones []int
		together     bool
	}{
		"one hurts": {w: world{n: 5, higher: true, truth: func(on []bool) float64 {
			if on[1] {
				return 70
			}
			return 100
		}}, hurts: is(1), nones: is(0, 2, 3, 4)},
		"less is better": {w: world{n: 3, truth: func(on []bool) float64 {
			if on[2] {
				return 2
			}
			return 6
		}}, did: is(2), nones: is(0, 1)},
		"one helps as much as another hurts": {w: world{n: 4, higher: true, truth: func(on []bool) float64 {
			y := 100.0
			if on[0] {
				y += 30
			}
			if on[1] {
				y -= 30
			}
			return y
		}}, did: is(0), hurts: is(1), nones: is(2, 3)},
		"either of two": {w: world{n: 6, higher: true, truth: func(on []bool) float64 {
			if on[1] || on[4] {
				return 100
			}
			return 50
		}}, either: is(1, 4), nones: is(0, 2, 3, 5)},
		"any of three": {w: world{n: 5, higher: true, truth: func(on []bool) float64 {
			if on[0] || on[2] || on[3] {
				return 100
			}
			return 50
		}}, either: is(0, 2, 3), nones: is(1, 4)},
		"either of two beside one": {w: world{n: 6, higher: true, truth: func(on []bool) float64 {
			y := 40.0
			if on[1] || on[4] {
				y += 30
			}
			if on[5] {
				y += 30
			}
			return y
		}}, did: is(5), either: is(1, 4), nones: is(0, 2, 3)},
		"only both": {w: world{n: 4, higher: true, truth: func(on []bool) float64 {
			if on[0] && on[3] {
				return 100
			}
			return 50
		}}, did: is(0, 3), nones: is(1, 2), together: true},
		"two of thirty": {w: world{n: 30, higher: true, truth: func(on []bool) float64 {
			y := 50.0
			if on[7] {
				y += 30
			}
			if on[22] {
				y += 20
			}
			return y
		}}, did: is(7, 22)},
		"a loss that stops": {w: world{n: 4, grain: 0.2, truth: func(on []bool) float64 {
			if on[2] {
				return 0
			}
			return 300
		}}, did: is(2), nones: is(0, 1, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			right := 0
			for seed := range 40 {
				c.w.noise = gauss(0.01)
				r := c.w.run(t, uint64(seed), 30)
				ok := slices.Equal(verdicts(r, DidIt), c.did) && slices.Equal(verdicts(r, EitherOf), c.either) &&
					slices.Equal(verdicts(r, DoesHurt), c.hurts) && r.Together == c.together &&
					(c.nones == nil || slices.Equal(verdicts(r, DoesNone), c.nones))
				for _, i := range c.either {
					ok = ok && slices.Equal(r.Settings[i].Either, c.either)
				}
				if ok {
					right++
				} else {
					t.Logf("seed %d: %+v", seed, r)
				}
			}
			if right < 37 {
				t.Errorf("told right in %d of 40", right)
			}
		})
	}
}

// Groups cost fewer runs than one setting after the other.
func TestGroupsSaveRuns(t *testing.T) {
	w := world{n: 30, higher: true, noise: gauss(0.01), truth: func(on []bool) float64 {
		if on[3] {
			return 100
		}
		return 50
	}}
	r := w.run(t, 1, 30)
	each := r.Settings[3].Rounds * 30
	t.Logf("%d runs; one after the other would be about %d", r.Runs, each)
	if r.Runs > each {
		t.Errorf("%d runs", r.Runs)
	}
}

func TestALoadThatFails(t *testing.T) {
	boom := errors.Join(ErrFailed, errors.New("connection refused"))
	r, err := Run(context.Background(), Options{Settings: 3, Rand: rand.New(rand.NewPCG(1, 1))}, func(_ context.Context, on []bool) (float64, error) {
		if !on[1] {
			return 0, boom
		}
		return 1 + rand.Float64()/100, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := verdicts(r, DidIt); !slices.Equal(got, []int{1}) || !r.Settings[1].Fails {
		t.Errorf("%+v", r.Settings)
	}
	_, err = Run(context.Background(), Options{Settings: 3}, func(context.Context, []bool) (float64, error) { return 0, boom })
	if !errors.Is(err, ErrFailed) {
		t.Errorf("a load that always fails: %v", err)
	}
}

func TestALoadThatShowsNothing(t *testing.T) {
	r, err := Run(context.Background(), Options{Settings: 3, Grain: 0.2}, func(context.Context, []bool) (float64, error) { return 0, nil })
	if err != nil || !r.Idle || len(verdicts(r, CantTell)) != 3 || r.Rounds > 2*fewest {
		t.Errorf("%v %+v", err, r)
	}
}

// A study that is cut says what it has, and never more than it knows.
func TestCut(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	r, err := Run(ctx, Options{Settings: 9}, func(context.Context, []bool) (float64, error) {
		if n++; n == 40 {
			cancel()
		}
		return 1 + rand.Float64(), nil
	})
	if err != nil || !r.Cut || len(verdicts(r, DidIt)) > 0 || len(r.Settings) != 9 {
		t.Errorf("%v %+v", err, r)
	}
	for _, s := range r.Settings {
		if s.Verdict == CantTell && s.Why == "" {
			t.Errorf("%+v says not why", s)
		}
		if s.Open != (s.Interval == Interval{}) || s.Rounds < fewest && !s.Open {
			t.Errorf("an interval of nothing: %+v", s)
		}
	}
}

func TestLooksSpendNoMoreThanAll(t *testing.T) {
	for rounds := fewest; rounds < 200; rounds++ {
		all := looks(rounds)
		if all[len(all)-1] != rounds || !slices.IsSorted(all) || spend(rounds, rounds) != 1 {
			t.Fatalf("%d: %v", rounds, all)
		}
	}
}

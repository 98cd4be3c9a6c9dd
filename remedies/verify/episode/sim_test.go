package episode

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// draws of each case, and the seed: SNAG_DRAWS=400 SNAG_SEED=77 makes the figures of
// docs/tune.md.
func draws(t *testing.T) (n int, seed uint64) {
	n, seed = 40, 5
	if testing.Short() {
		n = 10
	}
	for name, set := range map[string]func(int){"SNAG_DRAWS": func(v int) { n = v }, "SNAG_SEED": func(v int) { seed = uint64(v) }} {
		if text := os.Getenv(name); text != "" {
			v, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			set(v)
		}
	}
	return n, seed
}

// most is how many of n draws may come out although each does with a chance of share:
// three standard deviations more than on average.
func most(n int, share float64) int {
	return int(float64(n)*share + 3*math.Sqrt(float64(n)*share*(1-share)))
}

// What nothing was done about is not called gone: recordings before and after of all
// usual lengths, of trouble whose seconds know each other.
func TestNothingDoneIsNotGone(t *testing.T) {
	n, seed := draws(t)
	for _, list := range []struct {
		worlds []world
		share  float64
	}{{worlds, 0.05}, {beyond, 0.25}} {
		for _, w := range list.worlds {
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				var line strings.Builder
				for _, before := range []int{8, 15, 30, 60, 120} {
					fmt.Fprintf(&line, "| %d s:", before)
					for _, after := range []int{8, 15, 30, 60, 120, 180} {
						r := rand.New(rand.NewPCG(seed, uint64(1000*before+after)))
						got := map[Outcome]int{}
						for range n {
							b, a, gap := w.pair(r, before, after)
							got[Decide(b, a, Around{Gap: float64(gap)}).Outcome]++
						}
						fmt.Fprintf(&line, " %.3g/%.3g", 100*float64(got[Gone])/float64(n), 100*float64(got[Reduced])/float64(n))
						if got[Gone] > most(n, list.share) {
							t.Errorf("%d s before, %d s after: called gone %d times of %d", before, after, got[Gone], n)
						}
					}
				}
				t.Logf("%s: %% gone/reduced, of 8, 15, 30, 60, 120, 180 s after %s", w.name, line.String())
			})
		}
	}
}

// Who measures for as long as verify asks for does not stop at a lucky moment: the quiet
// time depends on the recording before only, and not on the one after.
func TestNothingDoneIsNotGoneAfterTheTimeThatIsSaid(t *testing.T) {
	n, seed := draws(t)
	const longest = 300 // seconds, as snag tune verify without --for
	for _, list := range []struct {
		worlds []world
		share  float64
	}{{worlds, 0.05}, {beyond, 0.25}} {
		for _, w := range list.worlds {
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				var line strings.Builder
				for _, before := range []int{10, 20, 30, 45, 60, 120, 180} {
					r := rand.New(rand.NewPCG(seed, uint64(before)))
					gone := 0
					for range n {
						b, a, gap := w.pair(r, before, longest)
						after := before
						if need := int(Round(In(b).Need(0) + 2)); need <= longest {
							after = max(after, need)
						}
						if Decide(b, a[:after], Around{Gap: float64(gap)}).Outcome == Gone {
							gone++
						}
					}
					fmt.Fprintf(&line, " %.3g", 100*float64(gone)/float64(n))
					if gone > most(n, list.share) {
						t.Errorf("%d s before: called gone %d times of %d", before, gone, n)
					}
				}
				t.Logf("%s: %% gone, of 10, 20, 30, 45, 60, 120, 180 s before:%s", w.name, line.String())
			})
		}
	}
}

// regular are the worlds with a period that three of them tell.
func regular(w world) bool { return w.period > 0 && !strings.HasPrefix(w.name, "bursts") }

// What was cured is called gone once three periods are quiet, where the recording before
// had as many.
func TestACureIsSeenAfterThreePeriods(t *testing.T) {
	n, seed := draws(t)
	for _, w := range worlds {
		if w.period == 0 {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			var line strings.Builder
			for _, periods := range []float64{3, 6} {
				r := rand.New(rand.NewPCG(seed, uint64(periods)))
				gone, need := 0, 0.0
				for range n {
					b, _, gap := w.pair(r, int(periods*w.period), 5)
					d := Decide(b, make(Series, int(3*w.period)), Around{Gap: float64(gap)})
					if d.Outcome == Gone {
						gone++
					}
					need += In(b).Need(0) / w.period / float64(n)
				}
				fmt.Fprintf(&line, "; before %g periods: %.3g %%, needs %.2g periods", periods, 100*float64(gone)/float64(n), need)
				least := 0.9
				if strings.Contains(w.name, "50 %") && periods == 3 { // of 3 such periods the mean is not known well
					least = 0.75
				}
				if regular(w) && n-gone > most(n, 1-least) {
					t.Errorf("before %g periods: a cure was seen in %d of %d", periods, gone, n)
				}
			}
			t.Logf("%s: gone after three quiet periods%s", w.name, line.String())
		})
	}
}

// Steady trouble is gone after a minute of recordings before and after together; where its
// level wanders, after 105 s.
func TestACureOfSteadyTrouble(t *testing.T) {
	n, seed := draws(t)
	after := map[string]int{"one by one, often": 30, "a latency": 30, "AR(1) 0.8": 75, "AR(1) 0.95": 75}
	for _, w := range worlds {
		if after[w.name] == 0 {
			continue
		}
		r := rand.New(rand.NewPCG(seed, 3))
		gone := 0
		for range n {
			b, _, _ := w.pair(r, 30, 5)
			if Decide(b, make(Series, after[w.name]), Around{Gap: 10}).Outcome == Gone {
				gone++
			}
		}
		t.Logf("%s: %d of %d", w.name, gone, n)
		if n-gone > most(n, 0.1) {
			t.Errorf("%s: a cure was seen in %d of %d", w.name, gone, n)
		}
	}
}

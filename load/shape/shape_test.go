package shape

import (
	"math"
	"math/rand/v2"
	"testing"
)

// points of a service, three repeats with 10 % of noise.
func points(rates []float64, conns int, answers, p50 func(rate float64) float64) []At {
	random := rand.New(rand.NewPCG(1, 2))
	var all []Point
	for range 3 {
		for _, r := range rates {
			noise := 1 + 0.1*(random.Float64()-0.5)
			l, x := p50(r)*noise, answers(r)*noise
			all = append(all, Point{Rate: r, Conns: conns, Answers: min(x, r), P50: l, P90: l * 1.2, P99: l * 2, Mean: l, Open: min(x, r) * l, Sent: int64(r)})
		}
	}
	return Join(all)
}

var rates = []float64{10, 20, 40, 80, 125, 250, 500, 1000, 2000, 4000, 8000}

func keepsUp(r float64) float64 { return r }

func TestHump(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		p50   func(float64) float64
		wants float64 // the peak's rate; 0: none
	}{
		// 10 connections: each request waits for min(40 ms, the connection's interval) beyond 8/s.
		{"Nagle", func(r float64) float64 {
			if r < 80 {
				return 0.3e-3
			}
			return 0.3e-3 + min(0.04, 10/r)
		}, 125},
		{"steady", func(float64) float64 { return 0.01 }, 0},
		{"slower with more", func(r float64) float64 { return 1e-3 * (1 + r/1000) }, 0},
		{"idle states of a CPU", func(r float64) float64 { return 0.2e-3 + 0.5e-3/(1+r/100) }, 0},
	} {
		h, found := FindHump(points(rates, 10, keepsUp, tt.p50))
		if found != (tt.wants > 0) || found && math.Abs(math.Log(h.Peak.Rate/tt.wants)) > 0.8 {
			t.Errorf("%s: %v at %g", tt.name, found, h.Peak.Rate)
		}
	}
	// Overload at some rates is no hump, and neither are figures that are not the service's.
	over := points(rates, 10, func(r float64) float64 {
		if r > 100 && r < 1000 {
			return 50
		}
		return r
	}, func(r float64) float64 {
		if r > 100 && r < 1000 {
			return 0.5
		}
		return 1e-3
	})
	if h, found := FindHump(over); found {
		t.Errorf("overload: a hump at %g", h.Peak.Rate)
	}
	var own []Point
	for range 3 {
		own = append(own, Point{Rate: 10, Answers: 10, P50: 0.04, Why: "late"}, Point{Rate: 1000, Answers: 1000, P50: 1e-3})
	}
	if _, found := FindHump(Join(own)); found {
		t.Error("figures that are not the service's make a hump")
	}
	// One slow repeat of three is chance.
	if _, found := FindHump(Join([]Point{{Rate: 10, Answers: 10, P50: 0.2}, {Rate: 10, Answers: 10, P50: 0.2}, {Rate: 10, Answers: 10, P50: 1e-3}, {Rate: 99, Answers: 99, P50: 1e-3}, {Rate: 99, Answers: 99, P50: 1e-3}})); found {
		t.Error("repeats that disagree make a hump")
	}
}

// Each answer waits for 40 ms as soon as a connection is used for the second time, and ten connections bear no more
// than 250 requests per second.
func TestDelay(t *testing.T) {
	t.Parallel()
	waits := func(r float64) float64 {
		if r < 40 {
			return 0.5e-3
		}
		return 41e-3
	}
	all := points(rates, 10, func(r float64) float64 { return min(r, 220) }, waits)
	if at, found := FindDelay(all, 32e-3); !found || at.Rate != 40 {
		t.Errorf("%v at %g", found, at.Rate)
	}
	if _, found := FindHump(all); found {
		t.Error("a hump, though no rate beyond is faster")
	}
	if at, found := FindDelay(points(rates, 10, keepsUp, func(float64) float64 { return 0.01 }), 32e-3); found {
		t.Errorf("10 ms at %g are a delay", at.Rate)
	}
	// One repeat that is fast is enough against it, and so are figures that are not the service's.
	one := []Point{{Rate: 99, Answers: 99, P50: 0.04}, {Rate: 99, Answers: 99, P50: 0.04}, {Rate: 99, Answers: 99, P50: 1e-3}}
	own := []Point{{Rate: 99, Answers: 99, P50: 0.04, Why: "late"}, {Rate: 99, Answers: 99, P50: 0.04, Why: "late"}, {Rate: 99, Answers: 99, P50: 0.04}}
	for _, all := range [][]Point{one, own} {
		if _, found := FindDelay(Join(all), 32e-3); found {
			t.Errorf("%+v is a delay", all)
		}
	}
}

// The knee of a pool of workers, each of which takes 20 ms per request.
func TestKnee(t *testing.T) {
	t.Parallel()
	for _, workers := range []float64{4, 8, 16} {
		most := workers / 0.02
		k, found := FindKnee(points(rates, 100, func(r float64) float64 { return min(r, most) }, func(r float64) float64 {
			if r < most {
				return 0.02
			}
			return 100 / most
		}))
		if !found || math.Abs(k.Workers/workers-1) > 0.15 || k.ByConns {
			t.Errorf("%g workers: %v %+v", workers, found, k)
		}
	}
	if k, found := FindKnee(points(rates, 100, keepsUp, func(float64) float64 { return 0.001 })); found {
		t.Errorf("a service that keeps up has a knee: %+v", k)
	}
	// 10 connections, each answer of which waits 40 ms from some rate on: no worker is busy.
	if k, found := FindKnee(points(rates, 10, func(r float64) float64 { return min(r, 240) }, func(r float64) float64 {
		if r < 200 {
			return 0.2e-3
		}
		return 0.041
	})); !found || !k.NoWork() {
		t.Errorf("delayed acknowledgements: %v %+v", found, k)
	}
	if k, found := FindKnee(points(rates, 10, func(r float64) float64 { return min(r, 50) }, func(r float64) float64 {
		if r < 50 {
			return 0.02
		}
		return 0.2
	})); !found || k.NoWork() {
		t.Errorf("one worker: %v %+v", found, k)
	}
	k, found := FindKnee(points(rates, 10, func(r float64) float64 { return min(r, 500) }, func(float64) float64 { return 0.02 }))
	if !found || !k.ByConns {
		t.Errorf("10 connections that all wait are the limit: %v %+v", found, k)
	}
	several := points(rates, 10, func(r float64) float64 { return min(r, 500) }, func(float64) float64 { return 0.02 })
	for i := range several {
		several[i].Streams = 5
	}
	if k, found := FindKnee(several); !found || k.ByConns {
		t.Errorf("10 connections of 5 requests each, of which 10 are open, are not the limit: %v %+v", found, k)
	}
}

func TestFallsAndUSL(t *testing.T) {
	t.Parallel()
	law := func(n float64) float64 { return 100 * n / (1 + 0.05*(n-1) + 0.002*n*(n-1)) }
	var all []At
	for _, n := range []float64{1, 2, 4, 8, 16, 32, 64, 128} {
		all = append(all, At{Point: Point{Rate: 100 * n, Answers: law(n), Open: n}, Repeats: 3})
	}
	if _, after, falls := Falls(all); !falls || after.Rate != 12800 {
		t.Errorf("falls %v, at %g", falls, after.Rate)
	}
	u, ok := FitUSL(all)
	if want := math.Sqrt(0.95 / 0.002); !ok || math.Abs(u.Best()/want-1) > 0.02 || math.Abs(u.Single-100) > 2 {
		t.Errorf("%v %+v, best %g, want %g", ok, u, u.Best(), want)
	}
	if _, _, falls := Falls(points(rates, 100, func(r float64) float64 { return min(r, 500) }, func(float64) float64 { return 0.02 })); falls {
		t.Error("a plateau falls")
	}
}

func TestHysteresis(t *testing.T) {
	t.Parallel()
	of := func(p50 ...float64) (out []Point) {
		for _, v := range p50 {
			out = append(out, Point{P50: v})
		}
		return out
	}
	if h, found := FindHysteresis(of(0.01, 0.012, 0.011), of(0.1, 0.03, 0.05)); !found || h.After != 0.05 {
		t.Errorf("%v %+v", found, h)
	}
	for _, after := range [][]Point{of(0.01, 0.05, 0.05), of(0.05, 0.05)} {
		if _, found := FindHysteresis(of(0.01, 0.012, 0.011), after); found {
			t.Errorf("hysteresis of %+v", after)
		}
	}
}

func TestFrees(t *testing.T) {
	t.Parallel()
	slow, fast := Point{P50: 0.04}, Point{P50: 0.001}
	if !Frees([]Pair{{slow, fast}, {slow, fast}, {slow, fast}}) {
		t.Error("three of three")
	}
	for _, p := range [][]Pair{{{slow, fast}, {slow, fast}}, {{slow, fast}, {slow, fast}, {slow, slow}}, {{slow, fast}, {slow, fast}, {slow, Point{}}}} {
		if Frees(p) {
			t.Errorf("%+v", p)
		}
	}
}

func TestCliff(t *testing.T) {
	t.Parallel()
	of := func(p50 func(size int) float64) (all []Point) {
		for size := 64; size <= 64<<10; size *= 2 {
			for range 3 {
				v := p50(size)
				p := Point{Rate: 100, Conns: 5, Size: size, Answers: 100, P50: v, Sent: 200}
				if v == 0 {
					p.Lost = 200
				}
				all = append(all, p)
			}
		}
		return all
	}
	for _, tt := range []struct {
		name  string
		p50   func(int) float64
		from  int // 0: none
		never bool
	}{
		{"by its length", func(n int) float64 { return 1e-3 + 1e-6*float64(n) }, 0, false},
		{"beyond a segment", func(n int) float64 {
			if n > 1448 {
				return 0.041
			}
			return 1e-3
		}, 2048, false},
		{"beyond the path", func(n int) float64 {
			if n > 1448 {
				return 0
			}
			return 1e-3
		}, 2048, true},
		{"one size alone", func(n int) float64 {
			if n == 2048 {
				return 0.041
			}
			return 1e-3
		}, 2048, false},
		{"by microseconds", func(n int) float64 {
			if n > 1448 {
				return 0.5e-3
			}
			return 0.1e-3
		}, 0, false},
	} {
		c, found := FindCliff(Join(of(tt.p50)))
		if found != (tt.from > 0) || found && (c.From.Size != tt.from || c.Never != tt.never) {
			t.Errorf("%s: %v from %d, never %v", tt.name, found, c.From.Size, c.Never)
		}
	}
}

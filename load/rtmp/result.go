package rtmp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"snag/internal/sorting"
	"snag/internal/units"
)

// Result is what came of a run. Histograms are in nanoseconds.
type Result struct {
	Plan       Plan
	Took       time.Duration // from when the publishers were let in
	Players    []Player
	Publishers []Publisher
	// Behind is how late each tag was taken whole by the socket, Lag how late snag began to send it though it
	// could.
	Behind, Lag *hdrhistogram.Histogram
	// Own is how late snag itself was, 50 times per second.
	Own *hdrhistogram.Histogram
}

func newResult(p Plan) *Result {
	h := func() *hdrhistogram.Histogram { return hdrhistogram.New(1, longest.Nanoseconds(), 3) }
	return &Result{Plan: p, Players: make([]Player, p.Players), Publishers: make([]Publisher, p.Publishers), Behind: h(), Lag: h(), Own: h()}
}

// nobody is the error where no client was let in.
func (r *Result) nobody() error {
	for _, p := range r.Players {
		if p.Outcome == "" || p.Frames > 0 {
			return nil
		}
	}
	for _, p := range r.Publishers {
		if p.Outcome == "" || p.Sent > 0 {
			return nil
		}
	}
	ends := append(r.Ends(), r.PublishersEnds()...)
	sorting.StableBy(ends, func(a, b End) int { return cmp.Compare(b.N, a.N) })
	return fmt.Errorf("load %s: no session was accepted: %s", r.Plan.Target.Shown, ends[0].Outcome)
}

// End is an outcome and how many ended so.
type End struct {
	Outcome Outcome
	N       int
}

// Ends are the players' that did not go on to the end, the most first.
func (r *Result) Ends() []End {
	n := map[Outcome]int{}
	for _, p := range r.Players {
		n[p.Outcome]++
	}
	return sorted(n)
}

// PublishersEnds are the publishers'.
func (r *Result) PublishersEnds() []End {
	n := map[Outcome]int{}
	for _, p := range r.Publishers {
		n[p.Outcome]++
	}
	return sorted(n)
}

func sorted(n map[Outcome]int) (out []End) {
	delete(n, "")
	for _, o := range slices.Sorted(maps.Keys(n)) {
		out = append(out, End{o, n[o]})
	}
	sorting.StableBy(out, func(a, b End) int { return cmp.Compare(b.N, a.N) })
	return out
}

// Figures of the players together.
type Figures struct {
	Got        int // players that got a frame
	First      *hdrhistogram.Histogram
	Rate, Own  float64 // frames/s, the median over the players
	Slow       int     // players that got less than 95 % of the stream's own frames
	Behind     *hdrhistogram.Histogram
	Froze      int // players with a freeze
	Freezes    int
	Frozen     time.Duration // together
	LongFrozen time.Duration // of the player that stood longest
	Sound      int           // players that got no video, whose frames are audio
}

// leastOfOwn is the share of the stream's own frames under which a player gets too few.
const leastOfOwn = 0.95

// Figures sums the players up.
func (r *Result) Figures() (f Figures) {
	f.First, f.Behind = hdrhistogram.New(1, longest.Nanoseconds(), 3), hdrhistogram.New(1, longest.Nanoseconds(), 3)
	var rates, owns []float64
	for _, p := range r.Players {
		if p.Frames == 0 {
			continue
		}
		f.Got++
		_ = f.First.RecordValue(min(p.FirstFrame, longest).Nanoseconds())
		_ = f.Behind.RecordValue(min(p.Behind, longest).Nanoseconds())
		if p.Own > 0 {
			rates, owns = append(rates, p.Rate), append(owns, p.Own)
			if p.Rate < leastOfOwn*p.Own {
				f.Slow++
			}
		}
		if p.Freezes > 0 {
			f.Froze++
		}
		if p.Sound {
			f.Sound++
		}
		f.Freezes += p.Freezes
		f.Frozen += p.Frozen
		f.LongFrozen = max(f.LongFrozen, p.Frozen)
	}
	f.Rate, f.Own = median(rates), median(owns)
	return f
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[len(v)/2]
}

const (
	// mostOwn is how late snag may be, 1 time in 100: a freeze is ten times as long.
	mostOwn = 100 * time.Millisecond
	// mostLag is of the time between two tags.
	mostLag = 0.1
)

// Honest says why the figures are not the server's; "" if they are.
func (r *Result) Honest() string {
	if late := time.Duration(r.Own.ValueAtQuantile(99)); late > mostOwn {
		return fmt.Sprintf("snag itself was %s late once in a hundred times: what looks like a freeze may be its own: fewer clients, or a host with idle CPUs", units.Short(late.Seconds()))
	}
	rate := r.Plan.File.Rate()
	if lag := time.Duration(r.Lag.ValueAtQuantile(50)).Seconds(); rate > 0 && r.Lag.TotalCount() > 0 && lag > mostLag/rate {
		return fmt.Sprintf("half of the publishers' messages were sent %s late or more by snag itself, of %s between two: fewer --publishers", units.Short(lag), units.Short(1/rate))
	}
	return ""
}

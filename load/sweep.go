package load

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"snag/load/shape"
)

// Sweep is one plan at many rates, and on many numbers of connections.
type Sweep struct {
	Plan  Plan // its Rate and Conns are replaced
	Rates []float64
	Conns []int
	// Targets are the same one with messages of several sizes; none: that of Plan.
	Targets []SizedTarget
	Repeats int
	Seed    uint64
}

// SizedTarget is a target whose messages have so many bytes.
type SizedTarget struct {
	Size   int
	Target Target
}

// ackDelay is how long Linux delays an acknowledgement at least (TCP_DELACK_MIN,
// include/net/tcp.h). Where a connection is asked about as often, a delay by Nagle's algorithm is
// worst.
const ackDelay = 40 * time.Millisecond

// Rates are those between two, each about twice the one before, and those at which each of conns
// connections is asked every 20, 40 and 80 ms.
func Rates(from, to float64, conns int) []float64 {
	out := []float64{from}
	steps := max(1, int(math.Round(math.Log2(to/from))))
	for i := 1; i <= steps; i++ {
		out = append(out, from*math.Pow(to/from, float64(i)/float64(steps)))
	}
	for _, times := range []float64{0.5, 1, 2} {
		at := float64(conns) / ackDelay.Seconds() * times
		near := slices.ContainsFunc(out, func(r float64) bool { return math.Abs(math.Log(r/at)) < 0.15 })
		if at > from && at < to && !near {
			out = append(out, at)
		}
	}
	for i := range out {
		out[i] = rounded(out[i])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// rounded keeps three digits: a person reads the rates.
func rounded(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	return math.Round(v/unit) * unit
}

// Steps are the runs of a sweep, in random order within each repeat: what changes on the host meanwhile
// does not look like an effect of the rate.
func (s Sweep) Steps() (out []Plan) {
	random := rand.New(rand.NewPCG(s.Seed, 1))
	for range s.Repeats {
		var pass []Plan
		for _, conns := range s.Conns {
			for _, rate := range s.Rates {
				p := s.Plan
				p.Rate, p.Conns, p.For = rate, conns, s.lasts(rate)
				p.Warm = min(p.For/10, time.Second)
				for _, t := range s.Targets {
					p.Target, p.Size = t.Target, t.Size
					pass = append(pass, p)
				}
				if len(s.Targets) == 0 {
					pass = append(pass, p)
				}
			}
		}
		random.Shuffle(len(pass), func(i, j int) { pass[i], pass[j] = pass[j], pass[i] })
		out = append(out, pass...)
	}
	return out
}

// fewest are the requests that a step has at least, as far as mostStretched allows.
const (
	fewest        = 30
	mostStretched = 3
)

func (s Sweep) lasts(rate float64) time.Duration {
	need := time.Duration(fewest / rate * float64(time.Second))
	return min(max(s.Plan.For, need), mostStretched*s.Plan.For)
}

// resize has a plan ask with messages of a size.
func (s Sweep) resize(p *Plan, size int) {
	for _, t := range s.Targets {
		if t.Size == size {
			p.Target, p.Size = t.Target, size
		}
	}
}

// Took is about how long a sweep takes.
func (s Sweep) Took() (d time.Duration) {
	for _, p := range s.Steps() {
		d += p.For + p.Warm
	}
	return d
}

// PointOf is what a shape needs of a run.
func PointOf(r *Result) shape.Point {
	at := func(q float64) float64 { return float64(r.FromSent.ValueAtQuantile(q)) / 1e9 }
	p := shape.Point{Rate: r.Plan.Rate, Conns: r.Plan.Conns, Streams: r.StreamsEach(), Size: r.Plan.Size, Answers: r.Rate(), Open: r.Open, Lost: r.LostAll(), Sent: r.Sent, Why: r.HonestSinceSent()}
	if r.FromSent.TotalCount() > 0 {
		p.Mean, p.P50, p.P90, p.P99 = r.FromSent.Mean()/1e9, at(50), at(90), at(99)
		p.Lag = float64(r.Lag.ValueAtQuantile(50)) / 1e9
	}
	if r.FromDue.TotalCount() > 0 {
		p.DueP50, p.DueP99 = float64(r.FromDue.ValueAtQuantile(50))/1e9, float64(r.FromDue.ValueAtQuantile(99))/1e9
	}
	return p
}

// RunSweep runs all steps. each is called after each step, with how many there are.
func RunSweep(ctx context.Context, s Sweep, each func(n, of int, p shape.Point)) (out []shape.Point, err error) {
	steps := s.Steps()
	for i, p := range steps {
		r, err := Run(ctx, p)
		if err != nil {
			return out, fmt.Errorf("step %d of %d, %g requests/s on %d connections: %w", i+1, len(steps), p.Rate, p.Conns, err)
		}
		if ctx.Err() != nil {
			return out, nil // the step was cut
		}
		point := PointOf(r)
		out = append(out, point)
		each(i+1, len(steps), point)
	}
	return out, nil
}

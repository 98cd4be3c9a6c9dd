package load

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Sweep is one plan at many rates, and on many numbers of connections.
type Sweep struct {
	Plan Plan // its Rate and Conns are replaced
	// From and To are the lowest and the highest rate, requests/s; equal: one rate.
	From, To float64
	Conns    []int
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
	if to <= from {
		return out
	}
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
			for _, rate := range Rates(s.From, s.To, conns) {
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

package episode

import (
	"math"
	"slices"

	"snag/internal/distribution"
)

// chance that a quiet time as long as the one that is called gone comes though nothing has
// changed, by what the recording before tells: of the pauses that it makes likely, with
// those weighed evenly that nobody has seen. Of all recordings of the same trouble fewer
// are wrong: many show too few pauses to say anything (docs/tune.md). The more stretches of
// a recording are independent, the better it knows its pauses, and the greater the chance
// may be. Its bounds are those with which the simulations stay below 5 % (sim_test.go).
func (e Episodes) chance() float64 {
	const least, most, stretches = 0.04, 0.13, 60
	return min(max(float64(e.Length)/max(e.mostMemory, 1)/stretches, least), most)
}

// pauses is what is known of the quiet times between episodes: Weibull distributions
// (W. Weibull 1951), each with its weight. A shape below 1 is of episodes that come in
// clusters, 1 of those that come by chance (exponential), above of regular ones.
type pauses struct {
	shape, scale, weight []float64
	lasts                float64 // of an episode
}

// Of the shapes and scales (in seconds) that are weighed, evenly in their logarithms:
// how often episodes come is not known before, nor whether regularly.
const (
	leastShape, mostShape, shapes = 0.5, 8.0, 9
	leastScale, mostScale, scales = 0.4, 20_000.0, 56
)

func logSteps(least, most float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = least * math.Pow(most/least, float64(i)/float64(n-1))
	}
	return out
}

// pausesOf weighs the distributions by how likely they make the quiet times of a
// recording: those of which both ends were seen, the first, of which the start was cut
// off (its density is that of the forward recurrence time, Cox 1962, 5.1), and the
// last, which went on for longer than was seen.
func pausesOf(e Episodes) pauses {
	p := pauses{lasts: max(e.Lasts(), 1)}
	times := map[int]float64{}
	for _, g := range e.Gaps {
		times[g]++
	}
	best := math.Inf(-1)
	for _, k := range logSteps(leastShape, mostShape, shapes) {
		mean := math.Gamma(1 + 1/k)
		for _, s := range logSteps(leastScale, mostScale, scales) {
			hazard := func(t float64) float64 { return math.Pow(t/s, k) }
			l := 0.0
			for g, n := range times { // a whole number of seconds, half a second more or less
				a, b := hazard(float64(g)-0.5), hazard(float64(g)+0.5)
				l += n * (-a + math.Log(max(-math.Expm1(a-b), 1e-300)))
			}
			if e.Head > 0 {
				l += -hazard(float64(e.Head)) - math.Log(s*mean)
			}
			l -= hazard(float64(e.Tail))
			p.shape, p.scale, p.weight = append(p.shape, k), append(p.scale, s), append(p.weight, l)
			best = max(best, l)
		}
	}
	sum := 0.0
	for i, l := range p.weight {
		p.weight[i] = math.Exp(l - best)
		sum += p.weight[i]
	}
	kept := 0
	for i, w := range p.weight {
		if w /= sum; w > 1e-5 {
			p.shape[kept], p.scale[kept], p.weight[kept] = p.shape[i], p.scale[i], w
			kept++
		}
	}
	p.shape, p.scale, p.weight = p.shape[:kept], p.scale[:kept], p.weight[:kept]
	return p
}

// quiet is the chance that a time of that length, anywhere, has no episode: of pauses G
// and episodes L it is E(G - length)+ / (E G + E L).
func (p pauses) quiet(length float64) (chance float64) {
	for i, k := range p.shape {
		mean := p.scale[i] * math.Gamma(1+1/k)
		chance += p.weight[i] * distribution.GammaRatio(1/k, math.Pow(length/p.scale[i], k)) * mean / (mean + p.lasts)
	}
	return chance
}

// need is the quiet time that is so rare.
func (p pauses) need(chance float64) float64 {
	low, high := 1.0, 1e5
	for range 14 {
		mid := math.Sqrt(low * high)
		if p.quiet(mid) > chance {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

const (
	// leastAfter and leastInAll are what a quiet time and both recordings together have
	// at least, in seconds. Trouble that was there all the time may be one long episode:
	// then nothing is known of the pauses, and only that it lasts longer than was seen.
	leastAfter, leastInAll = 15.0, 60.0
	// A level that wanders up and down comes back after some of its memories. Where both
	// recordings together have so many seconds no more is waited for: steady trouble, and
	// trouble with pauses, of which a short recording does not show the memory.
	memories, memoriesShort    = 4.0, 5.0
	wanderSteady, wanderPauses = 105.0, 150.0
	// leastIrregular is what both have together where the pauses differ, or only one was
	// seen: short ones may be those within a cluster, and the one after it is longer. There
	// are no clusters where seconds do not remember each other.
	leastIrregular, clustered = 90.0, 1.5
	// leastLength of a recording, in seconds, in which such pauses tell anything.
	leastLength = 25
	// longest is the longest time from onset to onset that is reckoned with where none was
	// seen: episodes that come more seldom are mostly not in a recording at all.
	longest = 120.0
	// periods of that are to be quiet, and of the time that the user's --since leaves open.
	periods = 3
	// cycles from onset to onset are to be quiet however regular they were: how often
	// episodes come drifts. Of those that follow each other closely it is many, up to
	// manySeconds of them.
	cycles, many, manySeconds = 2.2, 8, 27.0
)

// irregular reports whether the pauses are too few or too different to count on.
func (e Episodes) irregular() bool {
	return len(e.Gaps) < 2 || slices.Max(e.Gaps) >= 3*slices.Min(e.Gaps)
}

// Need is the quiet time after the change, in seconds, from which on trouble that came
// like this is called gone. since is for how many seconds the user had known it when
// the recording began; 0: not said.
func (e Episodes) Need(since float64) float64 {
	length := float64(e.Length)
	least := max(leastAfter, leastInAll-length)
	switch {
	case e.Untimed: // it may have been one episode
		return max(least, longest)
	case e.Steady(since):
		known := e.known(since)
		return math.Ceil(max(leastAfter, leastInAll-known, min(memories*e.memory, wanderSteady-known)))
	case len(e.Gaps) > 0 && (e.Length >= leastLength || !e.irregular()):
		every := e.Every()
		if e.irregular() && e.memory > clustered {
			least = max(least, leastIrregular-length)
		}
		least = max(least, min(memoriesShort*e.mostMemory, wanderPauses-length), memories*e.memory)
		return math.Ceil(max(least, cycles*every, min(many*every, manySeconds), pausesOf(e).need(e.chance())))
	case e.Onsets == 1 && since > 0:
		// It came at least twice: when the user saw it first, and now.
		return math.Ceil(max(least, periods*(since+float64(e.First))))
	}
	return math.Ceil(periods * max(longest, length))
}

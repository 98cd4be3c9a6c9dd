// Package episode reports whether trouble that comes and goes is gone, from the harm of
// each second before a change and after it. It does no I/O.
//
// Seconds are not independent: a stall of five seconds makes five bad ones, and then
// there may be none for a minute, whatever was changed. What repeats are episodes, each
// with an onset and a length. So nothing is called gone because of many good seconds,
// but because of a quiet time in which episodes would have come again:
//
//   - The quiet times between episodes are those of a renewal process (D. R. Cox,
//     Renewal Theory, 1962). Their distribution is estimated from the recording before,
//     with those that its start and its end cut off. The trouble is gone when a quiet
//     time as long as the one after would be rare if nothing had changed (renewal.go).
//     A level that wanders has no pauses to count on: the quiet time is some of its
//     memories, which is how long seconds know each other.
//   - The interval of a mean is that of the stationary bootstrap (Politis and Romano,
//     The Stationary Bootstrap, JASA 89, 1994), whose blocks are as long as one episode
//     and its pause, or as the seconds remember each other (interval.go).
//   - What is less is reduced where there is a step between the recordings, and not only
//     a trend through both of them (trend.go).
//
// What can't be told yet is "too early", with the time that would do.
package episode

// Series is the harm of each whole second of a recording, in order of time.
type Series []float64

// Sum is the whole amount.
func (s Series) Sum() (sum float64) {
	for _, v := range s {
		sum += v
	}
	return sum
}

// Mean is the amount each second.
func (s Series) Mean() float64 {
	if len(s) == 0 {
		return 0
	}
	return s.Sum() / float64(len(s))
}

// strayShare of what a bad second has is none: a counter's stray.
const strayShare = 0.05

// bad reports which seconds have harm.
func (s Series) bad(floor float64) []bool {
	out := make([]bool, len(s))
	for i, v := range s {
		out[i] = v > floor
	}
	return out
}

// floor is the amount from which on a second is bad: a share of what bad ones have on
// average.
func (s Series) floor() float64 {
	n := 0
	for _, v := range s {
		if v > 0 {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return strayShare * s.Sum() / float64(n)
}

// Episodes is how trouble came in one recording. Lengths are in seconds.
type Episodes struct {
	Length int
	// Onsets are those that were seen: what was on when the recording began has none.
	Onsets int
	First  int   // the second of the first onset; -1: none was seen
	Gaps   []int // quiet times of which both ends were seen
	// Head and Tail are the quiet times that the start and the end of the recording cut off.
	Head, Tail int
	On         int // seconds with harm
	Runs       int // stretches of them
	// memory is how many seconds are worth one that is independent, and mostMemory how many
	// it may be; 0: not known.
	memory, mostMemory float64
	// Untimed: how much there was is known, and not in which seconds.
	Untimed bool
}

// In finds the episodes of a recording.
func In(s Series) Episodes {
	e := Episodes{Length: len(s), First: -1}
	quiet := 0
	for i, is := range s.bad(s.floor()) {
		if !is {
			quiet++
			continue
		}
		if e.On++; quiet > 0 || i == 0 {
			e.Runs++
		}
		switch {
		case quiet == 0:
		case e.Runs == 1:
			e.Head = quiet
		default:
			e.Gaps = append(e.Gaps, quiet)
		}
		if quiet > 0 {
			e.Onsets++
			if e.First < 0 {
				e.First = i
			}
		}
		quiet = 0
	}
	e.Tail = quiet
	if len(e.Gaps) == 0 { // that it begins and ends is no wandering
		s = s[e.Head : len(s)-e.Tail]
	}
	e.memory, e.mostMemory = s.memory(), s.mostMemory()
	return e
}

// What of a recording's edges may be without harm though the trouble is there: a wait is
// seen when it ends, and a counter grows between two samples.
const headEdge, tailEdge = 3, 2

// leastSteady is how many seconds trouble must have been there without a pause to count
// as steady: less may be one episode of a few seconds.
const leastSteady = 10.0

// Steady reports whether there was trouble all the time, from its only onset to the end of
// the recording. since is for how many seconds the user had known it before that.
func (e Episodes) Steady(since float64) bool {
	return e.On > 0 && len(e.Gaps) == 0 && e.Tail <= tailEdge && e.known(since) >= leastSteady
}

// known is for how long trouble without a pause had been there, in seconds.
func (e Episodes) known(since float64) float64 {
	if e.Head > headEdge { // it began in the recording
		return float64(e.On)
	}
	return float64(e.On) + since
}

// Lasts is how long an episode lasts, on average.
func (e Episodes) Lasts() float64 {
	if e.Runs == 0 {
		return 0
	}
	return float64(e.On) / float64(e.Runs)
}

// Every is the time from onset to onset, on average; 0: there is no pause of which both
// ends were seen, and nobody knows.
func (e Episodes) Every() float64 {
	if len(e.Gaps) == 0 {
		return 0
	}
	sum := 0
	for _, g := range e.Gaps {
		sum += g
	}
	return float64(sum)/float64(len(e.Gaps)) + e.Lasts()
}

// longestQuiet is the longest time without harm of more than that.
func (s Series) longestQuiet(floor float64) int {
	longest, quiet := 0, 0
	for _, is := range s.bad(floor) {
		if quiet++; is {
			quiet = 0
		}
		longest = max(longest, quiet)
	}
	return longest
}

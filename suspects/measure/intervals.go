package measure

import (
	"math"
	"time"

	"snag/recording"
	"snag/recording/intervals"
)

// Step is how much a count grew in a span: a table's row in its second, or a
// counter between two of its samples.
type Step struct {
	recording.Interval
	N float64
}

// Steps is the growth of one count over time, in order of time.
type Steps []Step

// OneSecond is the span that a row of a table counts (recording.Row).
func OneSecond(t recording.Time) recording.Interval {
	return recording.Interval{Start: t, End: t.Add(time.Second)}
}

// StepsOf returns the growth of a counter between its samples; the seconds in
// which it stood still are left out.
func StepsOf(s recording.Series) Steps {
	var out Steps
	for i, grown := range s.Steps() {
		if grown.V > 0 {
			out = append(out, Step{recording.Interval{Start: s.Points[i].T, End: grown.T}, grown.V})
		}
	}
	return out
}

// Sum is the growth over the whole recording.
func (all Steps) Sum() float64 {
	n := 0.0
	for _, s := range all {
		n += s.N
	}
	return n
}

// Joined is how far apart two active seconds may lie and still be one interval:
// one sample that fell on the other side of a tick.
const Joined = 1500 * time.Millisecond

// Active is when the count grew, adjacent seconds merged.
func (all Steps) Active() []recording.Interval {
	var spans []recording.Interval
	for _, s := range all {
		if s.N > 0 {
			spans = append(spans, s.Interval)
		}
	}
	return intervals.Merge(spans, Joined)
}

// Tolerance is the share of a count by which two instruments may differ and still count the
// same thing: none of them was read at the same instant.
const Tolerance = 0.05

// Agree reports whether two counts are the same within 5 % (2 at least): counts of
// one act, read at moments a tick apart.
func Agree(a, b float64) bool {
	return math.Abs(a-b) <= max(2, Tolerance*max(a, b))
}

// Between is the growth that falls into a span, a step that lies across its ends
// by its share, and how much of it lies in steps within a second of the ends,
// which may belong on either side: a count that was read only there (a socket's,
// every 5 s) can be compared with no more.
func (all Steps) Between(span recording.Interval) (n, edge float64) {
	if span.End == 0 {
		span.End = math.MaxInt64 - recording.Time(time.Second)
	}
	for _, s := range all {
		if inside := min(s.End, span.End).Sub(max(s.Start, span.Start)); inside > 0 {
			n += s.N * float64(inside) / float64(s.End.Sub(s.Start))
		}
		far := s.End.Add(time.Second) < span.Start || s.Start > span.End.Add(time.Second)
		if !far && (s.Start < span.Start.Add(time.Second) || s.End > span.End.Add(-time.Second)) {
			edge += s.N
		}
	}
	return n, edge
}

// most of a count that may lie at the edges of the span: more, and the counts
// agree by the choice of the span only.
const mostEdge = 0.2

// AgreeIn reports whether count, measured over the span, is what these steps say
// of it, and returns what they say.
func (all Steps) AgreeIn(count float64, span recording.Interval) (float64, bool) {
	n, edge := all.Between(span)
	tolerance := max(2, Tolerance*max(n, count)) + min(edge, mostEdge*max(n, count))
	return n, math.Abs(n-count) <= tolerance
}

// WellInside reports whether most of a count falls inside of the span and not at
// its ends: only then does a counter that was read over the span, and stood
// still, speak against it.
func (all Steps) WellInside(span recording.Interval) bool {
	n, edge := all.Between(span)
	return n-edge > 0.5*all.Sum()
}

// Spells are the steps of a clock that ran for a share of their time or more, and its share of
// these.
func (all Steps) Spells(least float64) (share float64, spells []recording.Interval) {
	ran := 0.0
	for _, one := range all {
		if length := one.End.Sub(one.Start).Seconds(); length > 0 && one.N >= least*length {
			ran, spells = ran+one.N, append(spells, one.Interval)
		}
	}
	return ran / max(intervals.Seconds(spells, 0), 1e-9), spells
}

// Duration is a time in seconds as a Duration.
func Duration(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// inside leaves a sample's distance from the ends of an interval: what moved
// there may have moved before or after.
func inside(i recording.Interval, end recording.Time) recording.Interval {
	if i.End == 0 {
		i.End = end
	}
	return recording.Interval{Start: i.Start.Add(time.Second), End: i.End.Add(-time.Second)}
}

// WorstRun is how much fell into the worst run of steps without a pause.
func (all Steps) WorstRun() float64 {
	worst, run := 0.0, 0.0
	var last recording.Time
	for _, d := range all {
		if d.N == 0 || d.Start.Sub(last) > Joined {
			run = 0
		}
		if d.N > 0 {
			run += d.N
			last = d.End
		}
		worst = max(worst, run)
	}
	return worst
}

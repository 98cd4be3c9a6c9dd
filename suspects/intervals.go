package suspects

import (
	"math"
	"sort"
	"time"

	"snag/recording"
)

// step is how much a count grew in a span: a table's row in its second, or a
// counter between two of its samples.
type step struct {
	recording.Interval
	N float64
}

// steps is the growth of one count over time, in order of time.
type steps []step

// oneSecond is the span that a row of a table counts (recording.Row).
func oneSecond(t recording.Time) recording.Interval {
	return recording.Interval{Start: t, End: t.Add(time.Second)}
}

// stepsOf returns the growth of a counter between its samples; the seconds in
// which it stood still are left out.
func stepsOf(s recording.Series) steps {
	var out steps
	for i, grown := range s.Steps() {
		if grown.V > 0 {
			out = append(out, step{recording.Interval{Start: s.Points[i].T, End: grown.T}, grown.V})
		}
	}
	return out
}

// sum is the growth over the whole recording.
func (all steps) sum() float64 {
	n := 0.0
	for _, s := range all {
		n += s.N
	}
	return n
}

// joined is how far apart two active seconds may lie and still be one interval:
// one sample that fell on the other side of a tick.
const joined = 1500 * time.Millisecond

// active is when the count grew, adjacent seconds merged.
func (all steps) active() []recording.Interval {
	var spans []recording.Interval
	for _, s := range all {
		if s.N > 0 {
			spans = append(spans, s.Interval)
		}
	}
	return mergeIntervals(spans, joined)
}

// mergeIntervals sorts intervals by their start and joins those that overlap or
// lie no further than gap apart. An open interval swallows all that follow.
func mergeIntervals(spans []recording.Interval, gap time.Duration) []recording.Interval {
	spans = append([]recording.Interval(nil), spans...)
	sort.Slice(spans, func(i, j int) bool { return spans[i].Start < spans[j].Start })
	var out []recording.Interval
	for _, s := range spans {
		if n := len(out); n > 0 && (out[n-1].End == 0 || s.Start <= out[n-1].End.Add(gap)) {
			if out[n-1].End != 0 && (s.End == 0 || s.End > out[n-1].End) {
				out[n-1].End = s.End
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// overlap is how long two sets of intervals hold at once; open ones last until
// end.
func overlap(a, b []recording.Interval, end recording.Time) time.Duration {
	var sum time.Duration
	for _, x := range a {
		for _, y := range b {
			xe, ye := x.End, y.End
			if xe == 0 {
				xe = end
			}
			if ye == 0 {
				ye = end
			}
			if d := min(xe, ye).Sub(max(x.Start, y.Start)); d > 0 {
				sum += d
			}
		}
	}
	return sum
}

// share of a count by which two instruments may differ and still count the same
// thing: none of them was read at the same instant.
const differ = 0.05

// agree tells whether two counts are the same within 5 % (2 at least): counts of
// one act, read at moments a tick apart.
func agree(a, b float64) bool {
	return math.Abs(a-b) <= max(2, differ*max(a, b))
}

// between is the growth that falls into a span, a step that lies across its ends
// by its share, and how much of it lies in steps within a second of the ends,
// which may belong on either side: a count that was read only there (a socket's,
// every 5 s) can be compared with no more.
func (all steps) between(span recording.Interval) (n, edge float64) {
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

// agreeIn tells whether count, measured over the span, is what these steps say
// of it, and returns what they say.
func (all steps) agreeIn(count float64, span recording.Interval) (float64, bool) {
	n, edge := all.between(span)
	tolerance := max(2, differ*max(n, count)) + min(edge, mostEdge*max(n, count))
	return n, math.Abs(n-count) <= tolerance
}

// wellInside tells whether most of a count falls inside of the span and not at
// its ends: only then does a counter that was read over the span, and stood
// still, speak against it.
func (all steps) wellInside(span recording.Interval) bool {
	n, edge := all.between(span)
	return n-edge > 0.5*all.sum()
}

// spells are the steps of a clock that ran for a share of their time or more, and its share of
// these.
func (all steps) spells(least float64) (share float64, spells []recording.Interval) {
	ran := 0.0
	for _, one := range all {
		if length := one.End.Sub(one.Start).Seconds(); length > 0 && one.N >= least*length {
			ran, spells = ran+one.N, append(spells, one.Interval)
		}
	}
	return ran / max(secondsOf(spells), 1e-9), spells
}

func secondsOf(spells []recording.Interval) (seconds float64) {
	for _, i := range spells {
		seconds += i.End.Sub(i.Start).Seconds()
	}
	return seconds
}

// secondsLong is a time in seconds as a Duration.
func secondsLong(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// inside leaves a sample's distance from the ends of an interval: what moved
// there may have moved before or after.
func inside(i recording.Interval, end recording.Time) recording.Interval {
	if i.End == 0 {
		i.End = end
	}
	return recording.Interval{Start: i.Start.Add(time.Second), End: i.End.Add(-time.Second)}
}

// worstRun is how much fell into the worst run of steps without a pause.
func (s steps) worstRun() float64 {
	worst, run := 0.0, 0.0
	var last recording.Time
	for _, d := range s {
		if d.N == 0 || d.Start.Sub(last) > joined {
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

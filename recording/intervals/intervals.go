// Package intervals is the arithmetic of spans of time: of sets of them, each open (End is
// zero) while it still goes on.
package intervals

import (
	"slices"
	"sort"
	"time"

	"snag/recording"
)

// Merge sorts intervals by their start and joins those that overlap or lie no further than
// gap apart. An open one swallows all that follow.
func Merge(all []recording.Interval, gap time.Duration) []recording.Interval {
	all = slices.Clone(all)
	sort.Slice(all, func(i, j int) bool { return all[i].Start < all[j].Start })
	var out []recording.Interval
	for _, s := range all {
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

// Overlap is how long two sets hold at once; open ones last until end.
func Overlap(a, b []recording.Interval, end recording.Time) time.Duration {
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

// Near are those of merged intervals that may overlap another one.
func Near(merged []recording.Interval, one recording.Interval) []recording.Interval {
	from := sort.Search(len(merged), func(k int) bool { return merged[k].End == 0 || merged[k].End > one.Start })
	if merged = merged[from:]; one.End == 0 {
		return merged
	}
	return merged[:sort.Search(len(merged), func(k int) bool { return merged[k].Start >= one.End })]
}

// Clip are the parts of them that lie in another; open ones end with it.
func Clip(all []recording.Interval, to recording.Interval) []recording.Interval {
	var out []recording.Interval
	for _, i := range all {
		if i.Start = max(i.Start, to.Start); i.End == 0 || i.End > to.End {
			i.End = to.End
		}
		if i.End > i.Start {
			out = append(out, i)
		}
	}
	return out
}

// Rest is the window without them.
func Rest(all []recording.Interval, window recording.Interval) []recording.Interval {
	var out []recording.Interval
	at := window.Start
	for _, i := range Merge(all, 0) {
		if i.Start > at {
			out = append(out, recording.Interval{Start: at, End: i.Start})
		}
		if i.End == 0 {
			return out
		}
		at = max(at, i.End)
	}
	if at < window.End {
		out = append(out, recording.Interval{Start: at, End: window.End})
	}
	return out
}

// Outside are the parts of intervals that lie in none of the others.
func Outside(all, others []recording.Interval) (out []recording.Interval) {
	for _, i := range all {
		out = append(out, Rest(Clip(others, i), i)...)
	}
	return out
}

// Total is how long they last together; open ones last until end.
func Total(all []recording.Interval, end recording.Time) time.Duration {
	var sum time.Duration
	for _, i := range all {
		sum += i.Length(end)
	}
	return sum
}

// Seconds is their Total in seconds.
func Seconds(all []recording.Interval, end recording.Time) float64 { return Total(all, end).Seconds() }

// Cover reports whether one of them holds at t.
func Cover(all []recording.Interval, t recording.Time) bool {
	return slices.ContainsFunc(all, func(i recording.Interval) bool { return i.Covers(t) })
}

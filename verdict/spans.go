package verdict

import (
	"time"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
)

// A file may measure for a small part of the time that the recording is of: a trace of
// half a minute beside a log of an hour. What only it measures is weighed over its own
// time, else each of its rates would be a hundredth of what it was, and what the log has
// before and after would speak for or against causes that nobody looked for then.

const (
	// shortPart of a recording's time, or less of it, is a span of its own.
	shortPart = 0.5
	// longEnough is a recording in which that matters.
	longEnough = time.Minute
)

// spanOf is when a measure was taken; short, that this is a small part of the window.
func spanOf(r *recording.Recording, measure string) (span recording.Interval, short, measured bool) {
	c, ok := r.Measured(measure)
	if !ok {
		return span, false, false
	}
	w := r.Window()
	span = w
	if c.Until != 0 && c.Until < w.End {
		span.End = c.Until
	}
	if c.Since > w.Start && c.Until != 0 { // without an end it is of a live host, and lasts
		span.Start = c.Since
	}
	length := w.End.Sub(w.Start)
	return span, length >= longEnough && float64(span.End.Sub(span.Start)) < shortPart*float64(length), true
}

// timesFor are the times over which a suspect is weighed: the recording's, that of the files
// that alone measure what it needs, or, where a log of all the time tells it as well, both.
func timesFor(sus *suspect.Suspect, r *recording.Recording) (short recording.Interval, narrow, wide bool) {
	if len(r.Manifest.Files) < 2 {
		return short, false, true
	}
	add := func(measure string) {
		span, isShort, ok := spanOf(r, measure)
		switch {
		case !ok:
		case !isShort:
			wide = true
		case !narrow:
			short, narrow = span, true
		default:
			short.Start, short.End = min(short.Start, span.Start), max(short.End, span.End)
		}
	}
	any := false
	for _, n := range sus.Needs {
		if !n.Must {
			continue
		}
		add(n.Measure)
		for _, m := range sus.InFiles[n.Measure] {
			add(m)
		}
		any = any || narrow || wide
	}
	if !any {
		for _, m := range sus.InTrace {
			add(m)
		}
	}
	return short, narrow, wide || !narrow
}

// weighed is a finding and the scene that it was seen in: its window is the time over
// which it was weighed.
type weighed struct {
	suspect.Finding
	seen *scene.Scene
}

// weigh has a suspect look at a recording, over the time that what it needs was measured.
func weigh(sus *suspect.Suspect, s *scene.Scene, r *recording.Recording, l *ledger.Ledger) (found []weighed) {
	span, narrow, wide := timesFor(sus, r)
	if narrow {
		within := *s // the same graph, looked at over another time
		within.Window = span
		for _, f := range sus.Findings(&within, r, l) {
			if !wide || !allAlong(f, span) {
				found = append(found, weighed{f, &within})
			}
		}
	}
	if wide {
		for _, f := range sus.Findings(s, r, l) {
			if !narrow || allAlong(f, span) {
				found = append(found, weighed{f, s})
			}
		}
	}
	return found
}

// allAlong reports whether a finding is of what a log of all the time tells.
func allAlong(f suspect.Finding, span recording.Interval) bool {
	return recording.StandsIn(f.Subject.PID) || !liesIn(f.Active, span)
}

// liesIn reports whether all that a finding acted in lies in a span.
func liesIn(active []recording.Interval, span recording.Interval) bool {
	for _, i := range active {
		if i.Start < span.Start.Add(-slack) || i.Start > span.End || i.End > span.End.Add(slack) {
			return false
		}
	}
	return true
}

// windowIn is the time over which a candidate was weighed.
func (c *candidate) windowIn(s *scene.Scene) recording.Interval {
	if c.window.End == 0 {
		return s.Window
	}
	return c.window
}

// onsetsIn are the beginnings of intervals that lie in the window, where that is not all
// of the recording's; seen is false where none does and there are others: what happened
// while nobody looked says nothing of a cause.
func onsetsIn(active []recording.Interval, window, whole recording.Interval) (onsets []recording.Time, seen bool) {
	all := starts(active)
	if window == whole || len(all) == 0 {
		return all, true
	}
	onsets = seenIn(all, window)
	if len(onsets) > 0 {
		return onsets, true
	}
	for _, i := range active { // it may go on in the window
		if i.Start <= window.End && (i.End == 0 || i.End >= window.Start) {
			return nil, true
		}
	}
	return nil, false
}

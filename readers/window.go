package readers

import (
	"fmt"
	"reflect"
	"time"

	"snag/readers/reader"
	"snag/recording"
)

// window is the part of all times that was asked for: 0 is open.
type window struct{ from, to recording.Time }

// timesAsked reads --from and --to. A time of day is that of the files' first day, or of the next
// where the files begin after it.
func timesAsked(p Plan, files []file, times []written, clocks hostClocks) (w window, err error) {
	if p.From == "" && p.To == "" {
		return w, nil
	}
	var first recording.Time
	for i, f := range files {
		if times[i].first == 0 {
			continue
		}
		at := times[i].in(f.opt.Zone, clocks.offsetOf(f.in.Path)).Start
		if !times[i].zoneless {
			at = times[i].first.Add(clocks.offsetOf(f.in.Path))
		}
		if first == 0 || at < first {
			first = at
		}
	}
	_, east := first.Wall().In(zoneOfUser(p, files)).Zone()
	for _, end := range []struct {
		flag, text string
		at         *recording.Time
	}{{"--from", p.From, &w.from}, {"--to", p.To, &w.to}} {
		if end.text == "" {
			continue
		}
		// The last such time that is no more than an hour later (FindMoment): of the day after the first time.
		t, rest, ok := recording.FindMoment(end.text, first.Add(22*time.Hour), east)
		if !ok || rest != "" {
			return w, fmt.Errorf("%s %q is not a time: give a time of day (14:17, 14:17:28 UTC) or a date and time (2026-11-21T14:17:28Z)", end.flag, end.text)
		}
		*end.at = t
	}
	day := func(t recording.Time) int64 { return (int64(t)/1e9 + int64(east)) / (24 * 3600) }
	if w.from != 0 && w.to != 0 && w.from >= w.to && day(w.from) > day(first) {
		// --from 00:00 --to 23:59, and the files begin in the evening: their day is meant, not the night
		// after it. A date stays what it is.
		w.from, _, _ = recording.FindMoment(p.From, first.Add(-2*time.Hour), east)
	}
	if w.from != 0 && w.to != 0 && w.from >= w.to {
		return w, fmt.Errorf("--from %s is not before --to %s", p.From, p.To)
	}
	return w, nil
}

// all reports whether nothing is left out.
func (w window) all() bool { return w.from == 0 && w.to == 0 }

// has reports whether any of an interval lies within.
func (w window) has(from, to recording.Time) bool {
	return (w.from == 0 || max(from, to) >= w.from) && (w.to == 0 || from <= w.to)
}

// hasRow reports whether a row is of that time: by its T, and its End where it has one. What has no
// time is of all.
func (w window) hasRow(row recording.Row) bool {
	v := reflect.ValueOf(row)
	at := v.FieldByName("T")
	if w.all() || !at.IsValid() || at.Type() != timeType || at.Int() == 0 {
		return true
	}
	from := recording.Time(at.Int())
	to := from
	if end := v.FieldByName("End"); end.IsValid() && end.Type() == timeType {
		to = max(to, recording.Time(end.Int()))
	}
	return w.has(from, to)
}

// clip leaves of a file's span what lies within.
func (w window) clip(told *reader.Told) (left bool) {
	if w.all() || told.First == 0 {
		return true
	}
	left = w.has(told.First, told.Last)
	told.First = max(told.First, w.from)
	if w.to != 0 {
		told.First, told.Last = min(told.First, w.to), min(told.Last, w.to)
	}
	told.Last = max(told.Last, told.First)
	return left
}

// moved is the window by a clock whose times are to be moved by d.
func (w window) moved(d time.Duration) window {
	return window{moved(w.from, -d), moved(w.to, -d)}
}

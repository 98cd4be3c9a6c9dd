package verdict

import (
	"fmt"
	"slices"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// happened says what came about during the recording that a reader must know
// before he trusts the rest: what he asked to look at went away, the clock was set,
// the machine was suspended, a file could not be read to its end.
func happened(r *recording.Recording) []string {
	var out []string
	target := r.Manifest.Target
	var ended, unrecorded []recording.Event
	for _, e := range r.Events {
		switch {
		case e.Kind == recording.EventProcessGone && slices.Contains(target.PIDs, e.Subject.PID):
			ended = append(ended, e)
		case e.Kind == recording.EventNetnsGone && target.NetnsID != 0 && e.Subject.Netns == target.NetnsID:
			out = append(out, fmt.Sprintf("the network namespace to look at, %s, went away at %s UTC: what came later was not seen", target.Netns, e.T))
		case e.Kind == recording.EventClockStep:
			out = append(out, fmt.Sprintf("the wall clock was set by %+.3f s at %s UTC: the recording's times and durations do not move with it, those in other logs do", e.Value, e.T))
		case e.Kind == recording.EventSuspended:
			out = append(out, fmt.Sprintf("the machine was suspended for %s from about %s UTC on: nothing ran meanwhile", units.Lasting(e.Value), e.T.Wall().Format("15:04:05")))
		case e.Kind == recording.EventNotRecorded:
			unrecorded = append(unrecorded, e)
		}
	}
	if text := gapsOf(unrecorded, r.Window()); text != "" {
		out = append(out, text)
	}
	if n := len(ended); n > 0 {
		last := ended[n-1]
		text := fmt.Sprintf("%s[%d], which was to be looked at, ended at %s UTC: what came later was not seen", last.Subject.Comm, last.Subject.PID, last.T)
		if len(target.PIDs) > 1 {
			text = fmt.Sprintf("%d of the %d processes to look at ended, the last, %s[%d], at %s UTC: what came later of them was not seen",
				n, len(target.PIDs), last.Subject.Comm, last.Subject.PID, last.T)
		}
		out = append(out, text)
	}
	for _, f := range r.Facts {
		if f.Name == recording.FactUnread {
			out = append(out, f.Value)
		}
	}
	return out
}

// gapsOf names the times of the window that were not recorded; "" for none.
func gapsOf(gaps []recording.Event, window recording.Interval) string {
	var all []recording.Interval
	for _, g := range gaps {
		all = append(all, g.Interval())
	}
	all = intervals.Clip(all, window)
	if len(all) == 0 {
		return ""
	}
	text := fmt.Sprintf("of these %s nothing was recorded for %s (%s UTC", units.Lasting(window.Length(0).Seconds()), units.Lasting(intervals.Seconds(all, 0)), all[0])
	if n := len(all) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more times", n)
	}
	return text + "): snag record did not run, or the machine was suspended"
}

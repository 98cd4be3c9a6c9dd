package scene

import (
	"fmt"
	"slices"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// A JVM that stops for this share of its time, or for so long within a minute, keeps whoever asks it
// waiting. A collector's usual goal is 1 to 8 % (MaxGCPauseMillis, GCTimeRatio), in stops that are short.
const (
	stoppedShare    = 0.1
	stoppedInMinute = 6.0 // s
)

// stoppedJVMs: a JVM of which nothing but its log is known, and that stood still for long. Whoever
// asked it anything had to wait.
func stoppedJVMs(s *Scene, r *recording.Recording) (out []Symptom) {
	if _, looked := r.Measured("sockets.diag"); looked {
		return nil // then it is known who waited
	}
	stops := map[int][]recording.Interval{}
	var order []int
	for _, e := range r.Events {
		if e.Kind != recording.EventGCPause && e.Kind != recording.EventSafepoint || e.Attrs["source"] != "gc log" {
			continue
		}
		if stops[e.Subject.PID] == nil {
			order = append(order, e.Subject.PID)
		}
		stops[e.Subject.PID] = append(stops[e.Subject.PID], e.Interval())
	}
	length := s.Window.Length(s.Window.End).Seconds()
	for _, pid := range order {
		all := intervals.Merge(stops[pid], 0)
		total, longest := intervals.Seconds(all, s.Window.End), 0.0
		for _, i := range all {
			longest = max(longest, i.Length(s.Window.End).Seconds())
		}
		if long := longStops(all, s.Window.End); intervals.Seconds(long, s.Window.End) >= 0.5*total {
			all = long
		}
		share := total / max(length, total, 0.001)
		most := MostInAMinute(all, func(i recording.Interval) (recording.Time, float64) {
			return i.Start, i.Length(s.Window.End).Seconds()
		})
		p := s.Process(pid)
		if p == nil || len(p.Sockets) > 0 || share < stoppedShare && most < stoppedInMinute {
			continue
		}
		out = append(out, onset(Symptom{
			Name: RequestLatency, Subject: p.Subject, Active: all, Side: "serve", Inferred: true, Amount: total / float64(len(all)), Unit: "s", Held: share, Share: share,
			Text: fmt.Sprintf("the JVM was paused for %s of %s, %s at the longest: whoever asked it had to wait", units.Lasting(total), units.Lasting(length), units.Lasting(longest)),
		}, s))
	}
	return out
}

// LongStop is from when on a single stop is felt, s.
const LongStop = 0.2

// longStops are the stops that are felt singly. Where they make most of the time, the others are what
// a healthy collector does.
func longStops(all []recording.Interval, end recording.Time) []recording.Interval {
	return slices.DeleteFunc(slices.Clone(all), func(i recording.Interval) bool { return i.Length(end).Seconds() < LongStop })
}

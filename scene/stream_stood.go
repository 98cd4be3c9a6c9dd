package scene

import (
	"cmp"
	"strings"
	"time"

	"snag/recording"
	"snag/recording/intervals"
)

// A viewer who asks for a live stream sees it from the next key frame on. Where the
// time between key frames is known, more than it and slack is no such wait; where it
// is not, longFirst is more than encoders for live use leave between them.
const (
	firstSlack = time.Second
	longFirst  = 5 * time.Second
)

// Stood is when a viewer of the stream saw nothing new: its freezes, the wait for its
// first frame where that took longer than to the next key frame, and, of HLS, when its
// playlist was late: what a player still has in hand runs out then. While it is refused nothing is
// due: the refusal is a symptom of its own.
func (st *Stream) Stood(window recording.Interval) []recording.Interval {
	out := append(st.Spans(recording.EventStreamFreeze, window), st.wait...)
	out = append(out, st.late...)
	return intervals.Outside(intervals.Merge(out, 0), intervals.Merge(spansOf(st.Gone(recording.EventStreamRefused, window)), 0))
}

// findWait notes how long a viewer waited for the stream's first frame. A server that
// refused it said why, and is no wait.
func (s *Scene) findWait(r *recording.Recording, st *Stream, firsts map[atLayer]recording.Time) {
	if cmp.Or(st.Row.Side, recording.StreamSidePlayer) != recording.StreamSidePlayer || st.Row.Protocol == "hls" {
		return
	}
	asked, first := st.Row.Asked, firsts[atLayer{st.Row.Name, st.Row.Layer}]
	if c, ok := r.Measured("streams.figures"); ok && c.Since != 0 && asked != 0 {
		asked = min(asked, c.Since) // an ask that was not answered is not in the row
	}
	for _, e := range st.Events {
		if e.Kind == recording.EventStreamRefused && strings.Contains(e.Attrs["why"], "the server refused") {
			return
		}
	}
	if asked = max(asked, s.Window.Start); asked == 0 || st.Row.Asked == 0 {
		return
	}
	due := asked.Add(longFirst)
	for _, series := range r.Select("snag_stream_gop_seconds", "stream", st.Row.Name) {
		for _, p := range series.Points {
			if series.Labels["layer"] == st.Row.Layer && p.V > 0 {
				due = asked.Add(time.Duration(p.V*1e9) + firstSlack)
			}
		}
	}
	if first == 0 {
		first = s.Window.End
	}
	if first.Sub(due) >= firstSlack {
		st.wait = []recording.Interval{{Start: due, End: first}}
		st.Asked = asked
	}
}

// atLayer is a stream at one place.
type atLayer struct{ name, layer string }

// firstFrames are when the first frame of each stream came.
func firstFrames(rows []recording.Stream) map[atLayer]recording.Time {
	out := map[atLayer]recording.Time{}
	for _, row := range rows {
		at := atLayer{row.Name, row.Layer}
		if first := out[at]; row.First != 0 && (first == 0 || row.First < first) {
			out[at] = row.First
		}
	}
	return out
}

// Delayed reports whether what a viewer suffered in that time comes later than its cause
// by more than the way takes.
func (st *Stream) Delayed(span recording.Interval) bool {
	return st.Delay > 0 || overlap([]recording.Interval{span}, st.wait)
}

// Since is from when a cause may have acted of what a viewer suffered in that time.
func (st *Stream) Since(span recording.Interval) recording.Time {
	if overlap([]recording.Interval{span}, st.wait) {
		return st.Asked
	}
	return span.Start.Add(-st.Delay)
}

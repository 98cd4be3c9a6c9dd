package scene

import (
	"fmt"
	"math"
	"slices"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// What a viewer bears: half a second of lateness is what a live picture has anyway,
// and one or two frames that are missing are not seen.
const (
	behindFloor  = 0.5 // s
	skippedFloor = 3   // frames
)

// sickStreams: what the watch of a stream saw of it, in a viewer's own units.
func sickStreams(s *Scene, r *recording.Recording) []Symptom {
	var out []Symptom
	for _, st := range s.Streams {
		before := len(out)
		for _, find := range []func(*Scene, *Stream) (Symptom, bool){frozen, ended, refused, late, skipped} {
			if sym, ok := find(s, st); ok {
				sym.Subject = st.Subject
				out = append(out, onset(sym, s))
			}
		}
		if sym, ok := stutters(s, r, st); ok && len(st.Stood(s.Window)) == 0 {
			sym.Subject = st.Subject
			out = append(out, onset(sym, s))
		}
		for _, sym := range st.less(s, r, out[before:]) {
			if sym.Name == StreamRateFell {
				out = append(out[:before], slices.DeleteFunc(out[before:], func(o Symptom) bool { return o.Name == FramesSkipped })...)
			}
			sym.Subject = st.Subject
			out = append(out, onset(sym, s))
		}
		if n, spans := st.Lost(r); n >= lostFloor {
			out = append(out, onset(Symptom{Name: DatagramsLost, Subject: st.Subject, Active: spans, Amount: n, Unit: "packets",
				Text: fmt.Sprintf("%s gaps in its packets' counters: what is missing was lost", units.Count(n))}, s))
		}
	}
	return out
}

// Lost is how many gaps there were in the counters of a stream's packets (RTP sequence
// numbers, MPEG-TS continuity), and in which seconds. What the kernel dropped at snag's
// own socket is not among them.
func (st *Stream) Lost(r *recording.Recording) (n float64, spans []recording.Interval) {
	for _, name := range []string{"snag_stream_packets_lost_total", "snag_stream_continuity_errors_total"} {
		points := ofStream(r, name, st.Row)
		for i := 1; i < len(points); i++ {
			if d := points[i].V - points[i-1].V; d > 0 {
				n += d
				spans = append(spans, recording.Interval{Start: points[i-1].T, End: points[i].T})
			}
		}
	}
	return n, intervals.Merge(spans, 0)
}

func frozen(s *Scene, st *Stream) (Symptom, bool) {
	spans := st.Stood(s.Window)
	sum, window := intervals.Total(spans, s.Window.End), s.Window.Length(s.Window.End)
	if sum <= 0 || window <= 0 {
		return Symptom{}, false
	}
	longest := recording.Interval{}
	for _, i := range spans {
		if i.Length(s.Window.End) > longest.Length(0) || longest.End == 0 {
			longest = i
		}
	}
	text := fmt.Sprintf("frozen for %s of %s", units.Seconds(sum), units.Seconds(window))
	if len(spans) > 1 {
		text = fmt.Sprintf("frozen %d times, %s of %s in all, %s the longest", len(spans), units.Seconds(sum), units.Seconds(window), units.Seconds(longest.Length(s.Window.End)))
	}
	if len(st.late) > 0 {
		text += ": its playlist was late"
	}
	if len(st.wait) > 0 {
		text += fmt.Sprintf(" (%s passed until its first frame)", units.Seconds(st.wait[0].End.Sub(st.Asked)))
		if st.Row.First == 0 {
			text = fmt.Sprintf("no frame in the %s since it was asked for", units.Seconds(st.wait[0].End.Sub(st.Asked)))
		}
	}
	return Symptom{Name: StreamFreeze, Active: spans, Amount: sum.Seconds(), Unit: "s", Share: min(1, sum.Seconds()/window.Seconds()), Text: text}, true
}

// A picture that stands for half a second again and again is seen to stutter, though no stop is as long
// as a freeze: stutterFew times, each stutterTimes as long as from one frame to the next otherwise.
const (
	stutterFloor = 0.5 // s
	stutterFew   = 3
	stutterTimes = 3
)

// stutters: the longest time without a frame, second by second, where the watch itself was in time.
// Of a stream in segments it is as long as these are apart.
func stutters(s *Scene, r *recording.Recording, st *Stream) (Symptom, bool) {
	var spans []recording.Interval
	var all []float64
	longest, sum := 0.0, 0.0
	late := map[recording.Time]float64{}
	for _, p := range ofStream(r, "snag_stream_reader_late_seconds", st.Row) {
		late[p.T] = p.V
	}
	for _, p := range ofStream(r, "snag_stream_gap_seconds", st.Row) {
		began := p.T.Add(-time.Second)
		if st.Row.First == 0 || began < st.Row.First { // the wait for the first frame
			continue
		}
		if st.Row.Threshold > 0 && p.V >= st.Row.Threshold || late[p.T] >= stutterFloor/2 {
			return Symptom{}, false // a freeze, or the watch's own doing: it would have told
		}
		all = append(all, p.V)
		if p.V >= stutterFloor {
			spans = append(spans, recording.Interval{Start: max(began, s.Window.Start), End: min(p.T, s.Window.End)})
			longest, sum = max(longest, p.V), sum+p.V
		}
	}
	slices.Sort(all)
	if st.Row.Protocol == "hls" || len(spans) < stutterFew || longest < stutterTimes*all[0] {
		return Symptom{}, false
	}
	window := s.Window.Length(s.Window.End).Seconds()
	return Symptom{Name: StreamFreeze, Active: intervals.Merge(spans, 0), Amount: sum, Unit: "s", Share: min(1, sum/window),
		Text: fmt.Sprintf("no frame for up to %.1f s, in %d of %d seconds; at the best %.2f s from one to the next", longest, len(spans), len(all), all[0])}, true
}

// late: the stream came behind its own clock, or its clock went slower than the
// wall's, which is the same to a viewer: the picture falls back.
func late(s *Scene, st *Stream) (Symptom, bool) {
	spans := append(st.Spans(recording.EventStreamLate, s.Window), st.Spans(recording.EventStreamSlow, s.Window)...)
	most, ratio, slow, on := 0.0, 1.0, 0.0, false
	for _, e := range st.Events {
		switch e.Kind {
		case recording.EventStreamLate:
			most = max(most, e.Value)
		case recording.EventStreamSlow:
			ratio = min(ratio, e.Value)
			end := e.End
			if end == 0 || end >= s.Window.End {
				end, on = s.Window.End, true
			}
			slow += (1 - e.Value) * max(0, end.Sub(max(e.T, s.Window.Start)).Seconds())
		}
	}
	amount := math.Max(most, slow)
	if len(spans) == 0 || amount < behindFloor && !on { // a clock that goes on like this is soon as far behind
		return Symptom{}, false
	}
	text := fmt.Sprintf("up to %.1f s behind its own clock", most)
	if ratio < 1 {
		text = fmt.Sprintf("its clock moves %.2f s a second: %.1f s behind by that", ratio, slow)
		if most > slow {
			text += fmt.Sprintf(", %.1f s in all", most)
		}
	}
	window := s.Window.Length(s.Window.End).Seconds()
	return Symptom{Name: StreamLate, Active: intervals.Merge(spans, 0), Amount: amount, Unit: "s", Share: min(1, amount/window), Text: text}, true
}

func skipped(s *Scene, st *Stream) (Symptom, bool) {
	n := 0.0
	var spans []recording.Interval
	for _, e := range st.Events {
		if e.Kind == recording.EventStreamSkipped && s.Window.Covers(e.T) {
			n += e.Value
			spans = append(spans, recording.Interval{Start: e.T, End: max(e.End, e.T)})
		}
	}
	if n < skippedFloor {
		return Symptom{}, false
	}
	sym := Symptom{Name: FramesSkipped, Active: spans, Amount: n, Unit: "frames",
		Text: fmt.Sprintf("%s frames are missing by its clock", units.Count(n))}
	if fps := st.Row.FPS; fps > 0 {
		sym.Share = min(1, n/(fps*s.Window.Length(s.Window.End).Seconds()))
	}
	return sym, true
}

// carries reports whether a symptom guessed from a socket or its process is what a
// stream that crosses it was seen to suffer in that time.
func (s *Scene) carries(guess, seen Symptom) bool {
	st := s.StreamAt(seen.Subject)
	if st == nil || guess.Subject.Kind == recording.KindStream || seen.Name == FramesSkipped || !overlap(guess.Active, widened(seen.Active)) {
		return false
	}
	n := s.anchor(guess.Subject)
	if n == nil {
		return false
	}
	if guess.Name == StreamFreeze {
		return st.OnWay(s.Socket(n.ID))
	}
	return guess.Name == RequestLatency && guess.Unit == "ratio" && st.near[n.ID]
}

// widened is by how much a socket's samples may lie beside what was seen frame by
// frame: a second each, and what buffers on the way hold.
func widened(all []recording.Interval) []recording.Interval {
	var out []recording.Interval
	for _, i := range all {
		out = append(out, recording.Interval{Start: i.Start.Add(-stallFloor), End: i.End.Add(stallFloor)})
	}
	return out
}

package scene

import (
	"fmt"
	"slices"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/fell"
	"snag/recording/intervals"
)

// What a viewer sees of a stream that comes in time and is less than it was.
const (
	lessLeast = fell.Least * time.Second
	burstTime = 2 * time.Second // servers send what they hold when a viewer comes
)

// Less is a time in which a stream's audio was away, or its frames or bytes were far fewer than
// before. Of the last two the rates, a second.
type Less struct {
	recording.Interval
	Before, Now float64
}

// Less are the times in which less came, by the symptom's name.
func (st *Stream) Less(r *recording.Recording, window recording.Interval, symptom string) []Less {
	frames, bytes := st.rates(r, window, "snag_stream_frames_total", "video"), st.rates(r, window, "snag_stream_bytes_total", "video")
	switch symptom {
	case StreamAudioLost:
		return st.audioAway(window, frames)
	case StreamRateFell:
		return slices.DeleteFunc(falls(frames, fell.Frames, nil), func(l Less) bool { return !fell.Steady(within(frames, l.Interval)) })
	case StreamThin:
		return slices.DeleteFunc(falls(bytes, fell.Bytes, frames), func(l Less) bool { return l.Before < fell.Thin })
	}
	return nil
}

// rates are what came in each second in which the picture went on and the watch was in time; a
// second without them is left out. Of a stream in segments it comes in bursts: none.
func (st *Stream) rates(r *recording.Recording, window recording.Interval, name, kind string) []rate {
	if st.Row.Protocol == "hls" || st.Row.First == 0 {
		return nil
	}
	late := map[recording.Time]bool{}
	for _, p := range ofStream(r, "snag_stream_reader_late_seconds", st.Row) {
		late[p.T] = p.V >= 0.2
	}
	out := intervals.Merge(slices.Concat(st.Stood(window), spansOf(st.Gone(recording.EventStreamEnded, window)), spansOf(st.Gone(recording.EventStreamRefused, window))), 0)
	var all []rate
	for _, s := range r.Select(name, "stream", st.Row.Name, "kind", kind) {
		if s.Labels["layer"] != st.Row.Layer || s.Labels["side"] != "" && s.Labels["side"] != st.Row.Side {
			continue
		}
		for i := 1; i < len(s.Points); i++ {
			a, b := s.Points[i-1], s.Points[i]
			second := recording.Interval{Start: a.T, End: b.T}
			if a.T < st.Row.First.Add(burstTime) || b.V < a.V || b.T <= a.T || late[b.T] || overlap(out, []recording.Interval{second}) {
				continue
			}
			all = append(all, rate{second, (b.V - a.V) / b.T.Sub(a.T).Seconds()})
		}
	}
	return all
}

type rate struct {
	recording.Interval
	v float64
}

func spansOf(gone []Gone) (out []recording.Interval) {
	for _, g := range gone {
		out = append(out, g.Interval)
	}
	return out
}

// audioAway: its audio went away, while the picture came on.
func (st *Stream) audioAway(window recording.Interval, frames []rate) (out []Less) {
	began := recording.Time(0)
	end := func(at recording.Time) {
		l := Less{Interval: recording.Interval{Start: max(began, window.Start), End: at}}
		seen := 0
		for _, f := range frames {
			if f.v > 0 && f.Start >= l.Start && f.End <= l.End {
				seen++
			}
		}
		if began != 0 && l.Length(at) >= lessLeast && seen >= int(lessLeast/time.Second)-1 {
			out = append(out, l)
		}
		began = 0
	}
	for _, e := range st.Events {
		if e.Kind != recording.EventStreamChanged || e.Attrs["what"] != "audio" {
			continue
		}
		if e.Attrs["to"] == "none" {
			began = e.T
		} else {
			end(e.T)
		}
	}
	end(window.End)
	return out
}

// falls finds where the mean over lessLeast falls under a share of what it was before, and stays
// there as long. kept, where given, are rates that must not fall with it.
func falls(all []rate, share float64, kept []rate) []Less {
	const n = fell.Least
	v := values(all)
	for i := 2*n - 1; i < len(all); i++ {
		before, now := v[:i-n+1], v[i-n+1:i+1]
		if !fell.To(share, before, now) {
			continue
		}
		base, to := fell.Mean(before), i
		for to+1 < len(all) && fell.Mean(v[to-n+2:to+2]) <= share*base {
			to++
		}
		span := recording.Interval{Start: all[i-n+1].Start, End: all[to].End}
		if kept != nil && !fell.Kept(within(kept, recording.Interval{Start: all[0].Start, End: all[i-n].End}), within(kept, span)) {
			return nil
		}
		// One fall is told; what comes after it has no good time of its own to compare with.
		return []Less{{Interval: span, Before: base, Now: fell.Mean(v[i-n+1 : to+1])}}
	}
	return nil
}

// within are the rates of the seconds that lie in span.
func within(all []rate, span recording.Interval) (out []float64) {
	for _, x := range all {
		if x.Start >= span.Start && x.End <= span.End {
			out = append(out, x.v)
		}
	}
	return out
}

func values(all []rate) []float64 {
	out := make([]float64, len(all))
	for i, x := range all {
		out[i] = x.v
	}
	return out
}

// less: what a viewer misses of a stream that comes in time. Where it stands or is late, fewer
// frames and bytes are a consequence, and not told; of a lower rate that is steady it is the frames
// left out that are.
func (st *Stream) less(s *Scene, r *recording.Recording, felt []Symptom) (out []Symptom) {
	hurt := slices.ContainsFunc(felt, func(sym Symptom) bool { return sym.Name != FramesSkipped })
	for _, name := range []string{StreamAudioLost, StreamRateFell, StreamThin} {
		all := st.Less(r, s.Window, name)
		if len(all) == 0 || hurt && name != StreamAudioLost || name == StreamThin && len(out) > 0 {
			continue
		}
		var spans []recording.Interval
		for _, l := range all {
			spans = append(spans, l.Interval)
		}
		sum := intervals.Seconds(spans, s.Window.End)
		text := map[string]string{
			StreamAudioLost: "no audio for " + units.Lasting(sum) + " while the video continued",
			StreamRateFell:  fmt.Sprintf("the frame rate fell from %.0f to %.0f frames per second, for %s", all[0].Before, all[0].Now, units.Lasting(sum)),
			StreamThin:      fmt.Sprintf("the frame rate is the same, but the bit rate fell from %s/s to %s/s for %s: the picture is black, frozen or coded far worse", units.Bytes(all[0].Before), units.Bytes(all[0].Now), units.Lasting(sum)),
		}[name]
		out = append(out, Symptom{Name: name, Active: spans, Amount: sum, Unit: "s", Share: min(1, sum/max(s.Window.Length(s.Window.End).Seconds(), 1e-9)), Text: text})
	}
	return out
}

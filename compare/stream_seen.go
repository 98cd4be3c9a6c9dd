package compare

import (
	"snag/recording"
	"snag/scene"
)

// seen is a stream in a recording.
type seen struct {
	r  *recording.Recording
	st *scene.Stream
}

// series of the stream, at its place.
func (s seen) series(name string, pairs ...string) (out []recording.Series) {
	row := s.st.Row
	for _, one := range s.r.Select(name, pairs...) {
		l := one.Labels
		if (l["stream"] == row.Name || row.Was != "" && l["stream"] == row.Was) && l["layer"] == row.Layer && l["side"] == row.Side {
			out = append(out, one)
		}
	}
	return out
}

// kind of its frames: the video's, the audio's where it has no video.
func (s seen) kind() string {
	if s.st.Row.Video == "" && s.st.Row.Audio != "" {
		return "audio"
	}
	return "video"
}

// whole are the seconds from the first frame, to the last that was measured whole.
func (s seen) whole() (from, to int) {
	from = max(0, int(s.st.Row.First.Sub(s.r.Manifest.Start).Seconds())+1)
	last := s.r.Manifest.Start
	for _, one := range s.series("snag_stream_frames_total") {
		if n := len(one.Points); n > 0 {
			last = max(last, one.Points[n-1].T)
		}
	}
	to = seconds(s.r)
	if measured := int(last.Sub(s.r.Manifest.Start).Seconds()); to-measured <= 1 {
		to = measured // the last second was cut off, and is not one without frames
	}
	return from, max(from, to)
}

// perSecond is by how much its counters of a kind grew in each second; nil where none has them.
func (s seen) perSecond(name, kind string) []float64 {
	var pairs []string
	if kind != "" {
		pairs = []string{"kind", kind}
	}
	var out []float64
	for _, one := range s.series(name, pairs...) {
		if out == nil {
			out = make([]float64, seconds(s.r))
		}
		for i := 1; i < len(one.Points); i++ {
			from, to := one.Points[i-1], one.Points[i]
			if more := to.V - from.V; more > 0 {
				share(out, s.r, from.T, to.T, more)
			}
		}
	}
	return out
}

// grown are the blocks of such a counter while the stream was there, each part times so much.
func (s seen) grown(name, kind string, times float64) []block {
	all := s.perSecond(name, kind)
	if all == nil {
		return nil
	}
	from, to := s.whole()
	out := blocksOfSeconds(all[min(from, len(all)):to], 1)
	for i := range out {
		out[i].part *= times
	}
	return out
}

func (s seen) fps() float64 { return ratioOf(s.grown("snag_stream_frames_total", s.kind(), 1)) }

// silent is for how long no frame came at the end, s.
func (s seen) silent() float64 {
	if s.st == nil {
		return 0
	}
	all := s.perSecond("snag_stream_frames_total", s.kind())
	_, to := s.whole()
	for at := min(to, len(all)) - 1; at >= 0; at-- {
		if all[at] > 0 {
			return float64(to - at - 1)
		}
	}
	return 0 // nothing counted it
}

// gauge are the blocks of a gauge, each of the seconds in which it was measured.
func (s seen) gauge(name string) (out []block) {
	n := seconds(s.r)
	sums, points := make([]float64, n), make([]float64, n)
	for _, one := range s.series(name) {
		for _, p := range one.Points {
			if at := int(p.T.Sub(s.r.Manifest.Start).Seconds()); at >= 0 && at < n {
				sums[at] += p.V
				points[at]++
			}
		}
	}
	length := max(blockLeast, (n+mostBlocks-1)/mostBlocks)
	for i := 0; i+length <= n; i += length {
		var one block
		for at := i; at < i+length; at++ {
			if points[at] > 0 {
				one.part += sums[at] / points[at]
				one.of++
			}
		}
		if one.of > 0 {
			out = append(out, one)
		}
	}
	return out
}

// frozen are the blocks of the time for which no frame came.
func (s seen) frozen() []block {
	all := make([]float64, seconds(s.r))
	for _, held := range s.st.Spans(recording.EventStreamFreeze, s.r.Window()) {
		share(all, s.r, held.Start, held.End, held.End.Sub(held.Start).Seconds())
	}
	return blocksOfSeconds(all, 1)
}

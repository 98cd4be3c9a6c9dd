package streams

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"snag/internal/sorting"
	"snag/recording"
)

// read makes a stream of what was seen of it.
func read(s *seen, start recording.Time, window recording.Interval, verdicts []Verdict) *stream {
	out := &stream{seen: s, c: courseOf(s), marks: marksOf(s.events)}
	out.watched = out.c.has
	state, since, why := stateAt(s, out.c, window.End)
	k := s.key
	out.row = Row{
		ID: k.id(), State: state.String(), Rank: int(state), Sick: state.Sick(), Why: why,
		Name: k.name, Layer: k.layer, Side: k.side, Protocol: s.row.Protocol, URL: s.row.URL, Codec: codec(s.row), Size: size(s.row),
		Spark: spark(out.c.t, out.c.v[fps], window, s.row.FPS),
	}
	if since != 0 {
		at := seconds(since, start)
		out.row.Since = &at
	}
	if state.Read() {
		out.present(state, since, window.End)
	}
	if len(out.c.t) > 0 || s.row.First != 0 {
		n, frozen := frozenFor(out.marks, window.End)
		frozen = math.Round(frozen*10) / 10
		out.row.Freezes, out.row.Frozen = &n, &frozen
	}
	if m, ok := firstTrouble(out.marks); ok {
		at := seconds(m.at, start)
		out.row.From, out.row.Trouble = &at, m.text
	}
	out.hurts = len(hurting(out.marks))
	for _, v := range verdicts {
		for _, a := range active(v) {
			out.marks = append(out.marks, timed{at: a.Start, end: a.End, open: a.End == 0, kind: "verdict", text: v.Text})
		}
	}
	sorting.StableBy(out.marks, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
	return out
}

// called is what the scene calls the stream.
func (s *seen) called() string {
	switch {
	case s.layer != "":
		return s.name + " at " + s.layer
	case s.side == recording.StreamSidePublisher:
		return s.name + " as published"
	case s.side == recording.StreamSideConsumer:
		return s.name + " to " + s.row.Remote
	}
	return s.name
}

func active(v Verdict) []recording.Interval {
	if len(v.Active) == 0 && v.Since != 0 {
		return []recording.Interval{{Start: v.Since}}
	}
	return v.Active
}

// present are the figures at the end: rates are the median of the last five seconds, as a
// burst is none, of the rest the last value. What is well or frozen for less has the seconds
// since then: those before say nothing of how it is.
func (s *stream) present(state State, since, end recording.Time) {
	n := len(s.c.t)
	rate := func(q int) float64 {
		var all []float64
		for i := n - 1; i >= 0 && i >= n-5 && end.Sub(s.c.t[i]) < lately; i-- {
			if (state == OK || state == Frozen) && s.c.t[i].Add(-time.Second) < since {
				break
			}
			if v := s.c.v[q][i]; !math.IsNaN(v) {
				all = append(all, v)
			}
		}
		if len(all) == 0 {
			return nan
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	now := func(q int) float64 {
		for i := n - 1; i >= 0 && i >= n-3 && end.Sub(s.c.t[i]) < lately; i-- {
			if v := s.c.v[q][i]; !math.IsNaN(v) {
				return v
			}
		}
		return nan
	}
	s.row.FPS = measured(rate(fps))
	kbps := rate(video)
	if a := rate(audio); math.IsNaN(kbps) {
		kbps = a
	} else if !math.IsNaN(a) {
		kbps += a
	}
	s.row.Kbps, s.row.GOP, s.row.Drift, s.row.Skew = measured(kbps), measured(now(gop)), measured(now(late)), measured(now(skew))
}

func codec(row recording.Stream) string {
	switch {
	case row.Video == "":
		return row.Audio
	case row.Audio == "":
		return row.Video
	}
	return row.Video + " + " + row.Audio
}

func size(row recording.Stream) string {
	if row.Width <= 0 || row.Height <= 0 {
		return ""
	}
	return strconv.Itoa(row.Width) + "×" + strconv.Itoa(row.Height)
}

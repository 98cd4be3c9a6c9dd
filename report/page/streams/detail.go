package streams

import (
	"cmp"
	"math"
	"slices"
	"time"

	"snag/internal/sorting"
	"snag/internal/units"
	"snag/recording"
)

// detail is the course of a stream at so many times, with so many marks, at the most.
func (s *stream) detail(start recording.Time, most, marks int) Detail {
	b := thinned(s.c, most)
	d := Detail{ID: s.id(), T: []float64{}, Figures: b.figures(), Marks: []Mark{}}
	if b.step > 1 {
		d.Note = "Each point is the least and the most of " + units.Short(b.step) + "."
	}
	for _, t := range b.t {
		d.T = append(d.T, seconds(t, start))
	}
	if s.seen.row.Threshold > 0 {
		d.Threshold = measured(s.seen.row.Threshold)
	}
	d.Marks, d.MoreMarks = s.shown(start, marks)
	return d
}

// shown are a stream's marks on the page's axis, at most so many, and how many more there are.
func (s *stream) shown(start recording.Time, most int) ([]Mark, int) {
	kept, out := s.marks, []Mark{}
	more := max(0, len(kept)-most)
	if more > 0 {
		kept = worst(kept, most)
	}
	for _, m := range kept {
		mark := Mark{T: seconds(m.at, start), Open: m.open, Kind: m.kind, Text: m.text}
		if m.end != 0 {
			end := seconds(m.end, start)
			mark.End = &end
		}
		out = append(out, mark)
	}
	return out, more
}

// worst keeps n marks: those that hurt, the longest first.
func worst(all []timed, n int) []timed {
	weight := func(m timed) time.Duration {
		w := m.end.Sub(m.at)
		if m.open {
			w = math.MaxInt64 / 4
		}
		if trouble[m.kind] || m.kind == "verdict" {
			w += time.Hour
		}
		return w
	}
	out := slices.Clone(all)
	sorting.StableBy(out, func(a, b timed) int { return cmp.Compare(weight(b), weight(a)) })
	out = out[:n]
	sorting.StableBy(out, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
	return out
}

// seconds since the start, to 10 ms.
func seconds(t, start recording.Time) float64 {
	return math.Round(t.Sub(start).Seconds()*100) / 100
}

package streams

import (
	"cmp"
	"math"

	"snag/internal/sorting"
	"snag/internal/units"
	"snag/recording"
)

// stream is one stream, read.
type stream struct {
	*seen
	c     course
	marks []timed
	hurts int // marks that hurt a viewer
	row   Row
	// watched reports whether it was being watched at a time.
	watched func(recording.Time) bool
}

// Verdict is what the verdict says of one stream at a time.
type Verdict struct {
	Stream string // as the scene calls it: with its place, or its side
	Active []recording.Interval
	Since  recording.Time
	Text   string
}

// Of makes the data of a recording's streams within limits; nil where it has none. It says
// what was left out, a sentence each.
func Of(r *recording.Recording, start recording.Time, verdicts []Verdict, frames *Frames, l Limits) (*Data, []string) {
	window := r.Window()
	var all []*stream
	by := map[string][]Verdict{}
	for _, v := range verdicts {
		by[v.Stream] = append(by[v.Stream], v)
	}
	for _, s := range gather(r) {
		sorting.StableBy(s.events, inOrder)
		all = append(all, read(s, start, window, by[s.called()]))
	}
	if len(all) == 0 {
		return nil, nil
	}
	sorting.StableBy(all, first)
	since := func(t recording.Time) float64 { return seconds(t, start) }
	d := &Data{
		Total: len(all), Rows: []Row{}, Details: []Detail{}, Groups: groupsOf(all, r.StreamHops, since),
		SparkSeconds: math.Round(window.End.Sub(window.Start).Seconds()*10) / 10,
	}
	var left []string
	if n := len(all) - l.Rows; n > 0 {
		left = append(left, units.Count(float64(n))+" streams, those with the least trouble (snag show --table streams)")
		all = all[:l.Rows]
	}
	coarse, places := 0, map[string]int{}
	for _, s := range all {
		places[s.name]++
	}
	for i, s := range all {
		d.Rows = append(d.Rows, s.row)
		detail := s.detail(start, share(i, len(all), l), l.Marks)
		if len(detail.T) < len(s.c.t) {
			coarse++
		}
		if i < finer && places[s.name] == 1 { // a frame says its stream's name and no place
			detail.Frames = frames.course(s.name, start)
		}
		d.Details = append(d.Details, detail)
	}
	if coarse > 0 {
		left = append(left, "single seconds of "+units.Count(float64(coarse))+" of "+units.Count(float64(len(all)))+" streams: their charts have the least and the most of each step (snag show --table samples has all)")
	}
	return d, left
}

// finer are the streams of which more is kept: those that stand first.
const finer = 12

// share is how many times the course of the stream at a place may have: half of all is
// for those that stand first.
func share(i, n int, l Limits) int {
	perTime := l.Values / (quantities * 2) // of each time the least and the most
	few := min(n, finer)
	each := perTime / 2 / n
	if i < few {
		each += perTime / 2 / few
	}
	return max(min(each, l.Finest), 12)
}

// first puts the sick first, the worst state first, then those that were frozen longest,
// then by name.
func first(a, b *stream) int {
	of := func(s *stream) (rank int, frozen float64) {
		if s.row.Frozen != nil {
			frozen = *s.row.Frozen
		}
		return min(s.row.Rank, int(Asking)), frozen
	}
	ra, fa := of(a)
	rb, fb := of(b)
	return cmp.Or(cmp.Compare(ra, rb), cmp.Compare(fb, fa), cmp.Compare(b.hurts, a.hurts), natural(a.name, b.name), natural(a.layer, b.layer), cmp.Compare(a.side, b.side))
}

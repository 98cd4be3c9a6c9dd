package streams

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// layered is what a stream that was watched at several places (--layers) showed
// while it suffered: whether it was whole at the first of them, and after which the
// first harm came.
type layered struct {
	first string // the first place
	whole bool   // it did not suffer there
	// from and to are the first two neighbouring places between which it was hurt,
	// "" for none: frames of it were missing, came later by longest, or stood still
	// at to alone.
	from, to string
	missing  int
	longest  float64 // s
	// well are places that were read, did not suffer, and whose frames were not
	// matched with any other's: where they stand on the way is not known here.
	well []string
}

const (
	// lateHop is by how much a frame must come later between two places to be hurt
	// there: a relay hands on what it reads in some milliseconds, a segment of HLS is
	// another matter and has layers of its own kind only.
	lateHop = 0.5 // s
	// stoodHop is how long a stream must stand still at one place, and not at the one
	// before, to be hurt between them: a freeze that lasts has given nothing to match.
	stoodHop = 1.0 // s
	// sufferedToo is the share of a fault in which a place must suffer to have it too.
	sufferedToo = 0.2
)

// hop is what two neighbouring places showed of a fault.
type hop struct {
	from, to string
	missing  int
	longest  float64 // most that a frame took while the stream suffered, s
	typical  float64 // most of the seconds' medians outside of that, s
	least    float64 // least of all the seconds' medians, s
	outside  bool    // there were seconds outside
}

// layersOf reads the hops of a fault's stream; false where it was watched at one place.
func (f *faulty) layersOf(s *scene.Scene, r *recording.Recording) (layered, bool) {
	order := inPlaceOrder(f.hops(r))
	if len(order) == 0 {
		return layered{}, false
	}
	l := layered{first: order[0].from}
	length := intervals.Seconds(f.spans, s.Window.End)
	l.whole = f.suffersAt(s, l.first, 0) < sufferedToo*length
	for _, st := range s.Streams {
		at := st.Row.Layer
		matched := slices.ContainsFunc(order, func(h *hop) bool { return h.from == at || h.to == at })
		if st.Row.Name == f.stream.Row.Name && at != "" && !matched && st.Row.First != 0 && f.suffersAt(s, at, 0) < sufferedToo*length {
			l.well = append(l.well, at)
		}
	}
	for _, h := range order {
		usual := h.least
		if h.outside {
			usual = h.typical
		}
		above, below := f.suffersAt(s, h.from, usual), f.suffersAt(s, h.to, 0)
		stood := below >= stoodHop && above < sufferedToo*below
		if h.missing >= 3 || h.longest-usual >= lateHop || stood {
			l.from, l.to, l.missing, l.longest = h.from, h.to, h.missing, h.longest-usual
			if l.longest < lateHop { // nothing came out of it yet
				l.longest = below
			}
			break
		}
	}
	return l, true
}

// hops sums up the rows of each two places.
func (f *faulty) hops(r *recording.Recording) []*hop {
	type key struct{ from, to string }
	by := map[key]*hop{}
	var all []*hop
	for _, row := range r.StreamHops {
		if row.Name != f.stream.Row.Name {
			continue
		}
		k := key{row.From, row.To}
		h := by[k]
		if h == nil {
			h = &hop{from: row.From, to: row.To, least: row.Delay}
			by[k] = h
			all = append(all, h)
		}
		if row.Matched > 0 {
			h.least = min(h.least, row.Delay)
		}
		// A frame that was held up is matched when it comes out, at the freeze's end.
		if intervals.Cover(f.felt, row.T) || intervals.Cover(f.felt, row.T.Add(-time.Second)) || intervals.Cover(f.felt, row.T.Add(time.Second)) {
			h.missing += row.Missing
			h.longest = max(h.longest, row.Longest, row.Delay)
		} else {
			h.typical, h.outside = max(h.typical, row.Delay), true
		}
	}
	return all
}

// inPlaceOrder puts hops in the order in which the stream passes them: the first row
// of each is of when its frames were first matched, which may be another.
func inPlaceOrder(all []*hop) []*hop {
	var out []*hop
	for len(out) < len(all) {
		next := slices.IndexFunc(all, func(h *hop) bool {
			return !slices.Contains(out, h) && !slices.ContainsFunc(all, func(o *hop) bool { return o.to == h.from && !slices.Contains(out, o) })
		})
		if next < 0 { // a ring of places: as it is
			return all
		}
		out = append(out, all[next])
	}
	return out
}

// suffersAt is for how long of a fault its stream suffered at a place as well, whose
// frames come to the fault's that much later.
func (f *faulty) suffersAt(s *scene.Scene, layer string, later float64) float64 {
	for _, st := range s.Streams {
		if st.Row.Name != f.stream.Row.Name || st.Row.Layer != layer {
			continue
		}
		spans := st.Stood(s.Window)
		if f.slow {
			spans = append(spans, append(st.Spans(recording.EventStreamLate, s.Window), st.Spans(recording.EventStreamSlow, s.Window)...)...)
		}
		for i := range spans {
			spans[i].Start, spans[i].End = spans[i].Start.Add(measure.Duration(later)), spans[i].End.Add(measure.Duration(later))
		}
		return intervals.Overlap(intervals.Merge(spans, 0), f.spans, s.Window.End).Seconds()
	}
	return 0
}

// upstream is what the layers say of all that lies before the first of them.
func (f *faulty) upstream(s *scene.Scene, r *recording.Recording) []suspect.Evidence {
	l, ok := f.layersOf(s, r)
	switch {
	case !ok:
		return nil
	case l.whole && l.from != "" && f.bringsTo(s, l):
		return []suspect.Evidence{{Side: suspect.For, Grade: suspect.Weak, Value: l.longest, Unit: "s", Source: source.Of("table stream_hops"), Origin: "layers", Text: l.hurt()}}
	case l.whole && l.from != "" && (f.at == atSlowLink || f.at == atDeadLink):
		return nil // a relay's own link on the way there: its sockets tell
	case l.whole && l.from != "":
		return []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: l.longest, Unit: "s", Source: source.Of("table stream_hops"), Origin: "layers", Text: l.hurt()}}
	case !l.whole:
		return []suspect.Evidence{{Side: suspect.For, Grade: suspect.Weak, Source: source.Of("table stream_hops"), Origin: "layers", Text: l.already(f)}}
	}
	return nil
}

// bringsTo reports whether the connection that the fault is at brings the stream to the
// first place that was hurt.
func (f *faulty) bringsTo(s *scene.Scene, l layered) bool {
	if f.at == atUnknown || f.link >= len(f.stream.Way) {
		return false
	}
	to := f.stream.Way[f.link].Receiver()
	return to != nil && slices.ContainsFunc(s.Streams, func(st *scene.Stream) bool {
		return st.Row.Name == f.stream.Row.Name && st.Row.Layer == l.to && len(st.Way) > 0 && st.Way[0].Sender() == to
	})
}

// downstream is what they say of what lies between them.
func (f *faulty) downstream(s *scene.Scene, r *recording.Recording) []suspect.Evidence {
	l, ok := f.layersOf(s, r)
	switch {
	case !ok:
		return nil
	case l.from != "":
		return []suspect.Evidence{{Side: suspect.For, Grade: suspect.Weak, Value: l.longest, Unit: "s", Source: source.Of("table stream_hops"), Origin: "layers", Text: l.hurt()}}
	case !l.whole:
		return []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Strong, Source: source.Of("table stream_hops"), Origin: "layers",
			Text: l.already(f) + ", and nothing was lost or held up between the places"}}
	}
	return nil
}

// hurt says where the first harm came.
func (l layered) hurt() string {
	text := fmt.Sprintf("between %s and %s it was held up for %s", l.from, l.to, units.Lasting(l.longest))
	if l.missing > 0 {
		text += fmt.Sprintf(", and %s frames were missing", units.Count(float64(l.missing)))
	}
	if l.whole {
		text += fmt.Sprintf("; at %s it was whole", l.first)
	}
	return text
}

// already says that the first place had the fault.
func (l layered) already(f *faulty) string {
	what := "stopped"
	if f.slow {
		what = "fell back"
	}
	if len(l.well) > 0 {
		return fmt.Sprintf("it %s at %s already, and went on at %s; its frames were not found elsewhere", what, l.first, strings.Join(l.well, ", "))
	}
	return fmt.Sprintf("it %s at %s already, the first place where it was watched", what, l.first)
}

// with adds evidence to a finding. What an uplink between two of the places does is
// not before the first of them: there only the sockets tell.
func (f *faulty) with(out suspect.Finding, more []suspect.Evidence) suspect.Finding {
	for _, e := range more {
		if e.Side == suspect.Against && e.Grade == suspect.Decisive && f.at != atUnknown {
			e.Grade = suspect.Weak // a relay's own uplink, or a source in the middle: its sockets decide
		}
		out.Evidence = append(out.Evidence, e)
	}
	return out
}

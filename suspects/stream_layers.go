package suspects

import (
	"fmt"
	"time"

	"snag/recording"
	"snag/scene"
)

// layered is what a stream that was watched at several places (--layers) showed
// while it suffered: whether it was whole at the first of them, and after which the
// first harm came.
type layered struct {
	first string // the first place
	whole bool   // it did not stand still there
	// from and to are the first two neighbouring places between which it was hurt,
	// "" for none: frames of it were missing, or came later by longest.
	from, to string
	missing  int
	longest  float64 // s
}

// lateHop is by how much a frame must come later between two places to be hurt there:
// a relay hands on what it reads in some milliseconds, a segment of HLS is another
// matter and has layers of its own kind only.
const lateHop = 0.5 // s

// layersOf reads the hops of a fault's stream; false where it was watched at one place.
func (f *faulty) layersOf(s *scene.Scene, r *recording.Recording) (layered, bool) {
	var l layered
	type key struct{ from, to string }
	type hop struct {
		key
		missing          int
		longest, typical float64
	}
	by := map[key]*hop{}
	var order []*hop
	for _, row := range r.StreamHops {
		if row.Name != f.stream.Row.Name {
			continue
		}
		k := key{row.From, row.To}
		if by[k] == nil {
			by[k] = &hop{key: k}
			order = append(order, by[k])
		}
		h := by[k]
		// A frame that was held up is matched when it comes out, at the freeze's end.
		if covers(f.felt, row.T) || covers(f.felt, row.T.Add(-time.Second)) || covers(f.felt, row.T.Add(time.Second)) {
			h.missing += row.Missing
			h.longest = max(h.longest, row.Longest, row.Delay)
		} else {
			h.typical = max(h.typical, row.Delay)
		}
	}
	if len(order) == 0 {
		return l, false
	}
	l.first, l.whole = order[0].from, true
	for _, st := range s.Streams {
		if st.Row.Name == f.stream.Row.Name && st.Row.Layer == l.first && overlap(st.Stood(s.Window), f.felt, s.Window.End) > 0 {
			l.whole = false
		}
	}
	for _, h := range order {
		if h.missing >= 3 || h.longest-h.typical >= lateHop {
			l.from, l.to, l.missing, l.longest = h.from, h.to, h.missing, h.longest
			break
		}
	}
	return l, true
}

// upstream is what the layers say of all that lies before the first of them.
func (f *faulty) upstream(s *scene.Scene, r *recording.Recording) []Evidence {
	l, ok := f.layersOf(s, r)
	switch {
	case !ok:
		return nil
	case l.whole && l.from != "":
		return []Evidence{{Side: Against, Grade: Decisive, Value: l.longest, Unit: "s", Source: "table stream_hops", Origin: "layers", Text: l.hurt()}}
	case !l.whole:
		return []Evidence{{Side: For, Grade: Weak, Source: "table stream_hops", Origin: "layers", Text: fmt.Sprintf("it stood still at %s already, the first place where it was watched", l.first)}}
	}
	return nil
}

// downstream is what they say of what lies between them.
func (f *faulty) downstream(s *scene.Scene, r *recording.Recording) []Evidence {
	l, ok := f.layersOf(s, r)
	switch {
	case !ok:
		return nil
	case l.from != "":
		return []Evidence{{Side: For, Grade: Weak, Value: l.longest, Unit: "s", Source: "table stream_hops", Origin: "layers", Text: l.hurt()}}
	case !l.whole:
		return []Evidence{{Side: Against, Grade: Strong, Source: "table stream_hops", Origin: "layers",
			Text: fmt.Sprintf("it stood still at %s already, and nothing was lost or held up between the places where it was watched", l.first)}}
	}
	return nil
}

// hurt says where the first harm came.
func (l layered) hurt() string {
	text := fmt.Sprintf("between %s and %s it was held up for %s", l.from, l.to, lasting(l.longest))
	if l.missing > 0 {
		text += fmt.Sprintf(", and %s frames were missing", count(float64(l.missing)))
	}
	if l.whole {
		text += fmt.Sprintf("; at %s it was whole", l.first)
	}
	return text
}

// with adds evidence to a finding. What an uplink between two of the places does is
// not before the first of them: there only the sockets tell.
func (f *faulty) with(out Finding, more []Evidence) Finding {
	for _, e := range more {
		if e.Side == Against && e.Grade == Decisive && f.at != atUnknown {
			e.Grade = Weak // a relay's own uplink, or a source in the middle: its sockets decide
		}
		out.Evidence = append(out.Evidence, e)
	}
	return out
}

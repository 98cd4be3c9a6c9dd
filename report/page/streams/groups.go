package streams

import (
	"cmp"
	"slices"
	"time"

	"snag/internal/sorting"
	"snag/internal/units"
	"snag/recording"
)

// slack is how much later or earlier a trouble may begin at the next place: thresholds,
// the way's own delay, and what servers' buffers hide.
const slack = 2500 * time.Millisecond

// mostHurts of one stream are told, of mostTroubles at each of its places, the last.
const (
	mostHurts    = 40
	mostTroubles = 400
)

// groupsOf are the streams that several places saw, each with its troubles traced back to
// the first place that shows them.
func groupsOf(all []*stream, hops []recording.StreamHop, since func(recording.Time) float64) []Group {
	by := map[string][]*stream{}
	var order []string
	for _, s := range all {
		if s.layer == "" {
			continue
		}
		if by[s.name] == nil {
			order = append(order, s.name)
		}
		by[s.name] = append(by[s.name], s)
	}
	out := []Group{}
	for _, name := range order {
		if len(by[name]) < 2 {
			continue
		}
		places := inWay(by[name], name, hops)
		g := Group{Name: name, Hurts: []Hurt{}}
		for _, s := range places {
			g.IDs, g.Places = append(g.IDs, s.id()), append(g.Places, s.layer)
		}
		traces := tracesOf(places)
		g.More = max(0, len(traces)-mostHurts)
		for _, t := range traces[g.More:] {
			g.Hurts = append(g.Hurts, t.hurt(places, since))
		}
		out = append(out, g)
	}
	return out
}

// inWay puts places in the order in which the stream passes them: as its frames were
// matched from one to the next, else as they were asked for.
func inWay(places []*stream, name string, hops []recording.StreamHop) []*stream {
	next, into := map[string]string{}, map[string]bool{}
	for _, h := range hops {
		if h.Name == name {
			next[h.From], into[h.To] = h.To, true
		}
	}
	at := map[string]int{}
	for from := range next {
		if into[from] {
			continue
		}
		for n, layer := 0, from; layer != "" && n < len(places); n, layer = n+1, next[layer] {
			at[layer] = n + 1
		}
	}
	out := slices.Clone(places)
	sorting.StableBy(out, func(a, b *stream) int { return at[a.layer] - at[b.layer] })
	return out
}

// trace is one trouble, at the first place that shows it and at those after it.
type trace struct {
	first int
	mark  timed
	also  []string // by place
}

// tracesOf are the troubles of a stream at its places, by time, each at the first place of
// the way that shows it.
func tracesOf(places []*stream) []*trace {
	var out []*trace
	for at, s := range places {
		for _, m := range hurting(s.marks) {
			i := slices.IndexFunc(out, func(t *trace) bool { return t.first < at && follows(t.mark, m) })
			if i < 0 {
				out = append(out, &trace{first: at, mark: m, also: make([]string, len(places))})
				continue
			}
			if t := out[i]; t.also[at] == "" {
				t.also[at] = m.text
				if later := m.at.Sub(t.mark.at).Round(10 * time.Millisecond); later > 0 {
					t.also[at] = units.Seconds(later) + " later: " + m.text
				}
			}
		}
	}
	sorting.StableBy(out, func(a, b *trace) int { return cmp.Compare(a.mark.at, b.mark.at) })
	return out
}

// hurting are the marks of a place that hurt a viewer, the last of many. That it was
// refused is about snag, which reads there.
func hurting(marks []timed) []timed {
	var out []timed
	for _, m := range slices.Backward(marks) {
		if trouble[m.kind] && m.kind != "refused" && len(out) < mostTroubles {
			out = append(out, m)
		}
	}
	slices.Reverse(out)
	return out
}

func (t *trace) hurt(places []*stream, since func(recording.Time) float64) Hurt {
	sure := t.first == 0 || places[t.first-1].watched(t.mark.at)
	return Hurt{T: since(t.mark.at), Kind: t.mark.kind, First: t.first, Text: t.mark.text, Also: t.also[t.first+1:], Sure: sure}
}

// follows reports whether m, further down, is what f became: a freeze there may be lateness
// or skipped frames here, an end is an end.
func follows(f, m timed) bool {
	flow := func(kind string) bool {
		return kind != "jump" && kind != "ended" && kind != "audio" && kind != "picture" && kind != "less"
	}
	if f.kind != m.kind && (!flow(f.kind) || !flow(m.kind)) {
		return false
	}
	end := f.end
	switch {
	case f.open:
		return m.at >= f.at.Add(-slack)
	case end == 0:
		end = f.at
	}
	return m.at >= f.at.Add(-slack) && m.at <= end.Add(slack)
}

// has reports whether the course has a second that holds t: the place was watched then.
func (c *course) has(t recording.Time) bool {
	i, _ := slices.BinarySearch(c.t, t)
	if i == len(c.t) || c.t[i].Sub(t) >= hole {
		return false
	}
	for q := range c.v {
		if v := c.v[q][i]; v == v {
			return true
		}
	}
	return false
}

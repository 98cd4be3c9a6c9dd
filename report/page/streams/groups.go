package streams

import (
	"slices"
	"time"

	"snag/internal/units"
	"snag/recording"
)

// slack is how much later or earlier a trouble may begin at the next place: thresholds,
// the way's own delay, and what servers' buffers hide.
const slack = 2500 * time.Millisecond

// mostHurts of one stream are told.
const mostHurts = 40

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
		hurts := hurtsOf(places, since)
		g.More = max(0, len(hurts)-mostHurts)
		g.Hurts = append(g.Hurts, hurts[g.More:]...)
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
	slices.SortStableFunc(out, func(a, b *stream) int { return at[a.layer] - at[b.layer] })
	return out
}

// hurtsOf are the troubles of a stream at its places, by time, each at the first place of
// the way that shows it.
func hurtsOf(places []*stream, since func(recording.Time) float64) []Hurt {
	type trace struct {
		first int
		mark  timed
		also  []string // by place
	}
	var traces []*trace
	for at, s := range places {
		for _, m := range s.marks {
			if !trouble[m.kind] || m.kind == "refused" {
				continue
			}
			i := slices.IndexFunc(traces, func(t *trace) bool { return t.first < at && follows(t.mark, m) })
			if i < 0 {
				traces = append(traces, &trace{first: at, mark: m, also: make([]string, len(places))})
				continue
			}
			if t := traces[i]; t.also[at] == "" {
				t.also[at] = m.text
				if later := m.at.Sub(t.mark.at).Round(10 * time.Millisecond); later > 0 {
					t.also[at] = units.Seconds(later) + " later: " + m.text
				}
			}
		}
	}
	slices.SortStableFunc(traces, func(a, b *trace) int { return int(max(min(a.mark.at-b.mark.at, 1), -1)) })
	out := []Hurt{}
	for _, t := range traces {
		h := Hurt{T: since(t.mark.at), Kind: t.mark.kind, First: t.first, Text: t.mark.text, Also: t.also[t.first+1:], Sure: t.first == 0}
		if t.first > 0 {
			before := places[t.first-1]
			h.Sure = before.c.has(t.mark.at)
		}
		out = append(out, h)
	}
	return out
}

// follows tells whether m, further down, is what f became: a freeze there may be lateness
// or skipped frames here, an end is an end.
func follows(f, m timed) bool {
	flow := func(kind string) bool { return kind != "jump" && kind != "ended" && kind != "audio" }
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

// has tells whether the course has a second that holds t: the place was watched then.
func (c *course) has(t recording.Time) bool {
	for i, at := range c.t {
		if at >= t && at.Sub(t) < hole {
			for q := range c.v {
				if v := c.v[q][i]; v == v {
					return true
				}
			}
		}
	}
	return false
}

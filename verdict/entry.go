package verdict

import (
	"maps"
	"slices"

	"snag/suspects/suspect"
)

// entry turns a settled candidate into its entry of the verdict.
func (c *candidate) entry(g *graph) Entry {
	f := c.finding
	e := Entry{
		Suspect: c.suspect, State: c.state, Elsewhere: c.elsewhere, Subject: f.Subject, Text: f.Text, Confidence: c.confidence,
		Since: c.onset, Active: f.Active, Evidence: f.Evidence, Harm: f.Harm,
		Remedy: c.remedy(), Settings: f.Settings, Calls: f.Calls, Next: f.Next, Related: f.Related, from: c, host: c.host,
	}
	for _, out := range g.out[c] {
		name := ""
		if out.to != nil {
			name = out.to.suspect.Name
		} else {
			name = g.symptoms[out.symptom].Name
		}
		if !contains(e.LeadsTo, name) {
			e.LeadsTo = append(e.LeadsTo, name)
		}
	}
	if c.state == Culprit || c.state == Contributing {
		e.Explains = slices.Sorted(maps.Keys(g.explains(c)))
		g.judging = targets // what it holds up elsewhere does not make it matter more here
		if len(g.explains(c)) == 0 {
			g.judging = others
		}
		e.Chain, e.Held = g.chain(c), g.gain(c, nil)
		e.ofStream = g.ofStream(c, e.Explains)
		g.judging = anybodys
	}
	return e
}

// What a cause has to do with the stream that was asked for.
const (
	notOfStream = iota
	leadsToStream
	// sawStream: its own finding measured most of what the stream suffers, such as the seconds in which
	// no frame came, and not only losses on a way that the stream takes as well.
	sawStream
)

func (g *graph) ofStream(c *candidate, explains []int) int {
	out := notOfStream
	for _, i := range explains {
		s := g.symptoms[i]
		if !g.scope.watches(s.Subject) {
			continue
		}
		if h := c.finding.Harm; s.Name == h.Symptom && s.Unit == h.Unit && h.Amount > mostOfStream*s.Amount {
			return sawStream
		}
		out = leadsToStream
	}
	return out
}

// mostOfStream is the share of what a stream suffers beyond which a finding is about it.
const mostOfStream = 0.5

// remedy is the finding's own, else the catalogue's. What hurts nobody needs no command at
// once.
func (c *candidate) remedy() suspect.Remedy {
	out := c.finding.Remedy
	if c.state == Risk {
		out.Now = ""
	}
	if !out.Given() {
		return c.suspect.Usual()
	}
	return out
}

func contains(all []string, s string) bool {
	for _, a := range all {
		if a == s {
			return true
		}
	}
	return false
}

// chain is the way from a root to the worst symptom that it explains, the
// longest where there are several: the steps between are what a person asks for.
func (g *graph) chain(c *candidate) []Link {
	worst, most := -1, -1.0
	for i := range g.explains(c) {
		if s := g.symptoms[i].Held; s > most || s == most && i < worst {
			worst, most = i, s
		}
	}
	first := Link{Name: c.suspect.Name, Subject: c.finding.Subject, Text: c.finding.Text, Onset: c.onset}
	if worst < 0 {
		return []Link{first}
	}
	return append([]Link{first}, g.longest(c, worst, map[*candidate]bool{c: true})...)
}

func (g *graph) longest(from *candidate, symptom int, seen map[*candidate]bool) []Link {
	var best []Link
	for _, e := range g.out[from] {
		if e.to == nil {
			if s := g.symptoms[symptom]; e.symptom == symptom && best == nil {
				best = []Link{{Name: s.Name, Subject: s.Subject, Text: s.Text, Onset: s.Onset, Coincidence: e.coincidence.String(), Telling: e.coincidence.Telling(), InTime: e.inTime()}}
			}
			continue
		}
		if seen[e.to] {
			continue
		}
		seen[e.to] = true
		rest := g.longest(e.to, symptom, seen)
		delete(seen, e.to)
		if rest != nil && len(rest)+1 > len(best) {
			f := e.to.finding
			best = append([]Link{{Name: e.to.suspect.Name, Subject: f.Subject, Text: f.Text, Onset: e.to.onset, Coincidence: e.coincidence.String(), Telling: e.coincidence.Telling(), InTime: e.inTime()}}, rest...)
		}
	}
	return best
}

// inTime is the edge's coincidence, nil where there was nothing to compare.
func (e edge) inTime() *Coincidence {
	if e.coincidence.Onsets == 0 || e.coincidence.hit == nil {
		return nil
	}
	return &e.coincidence
}

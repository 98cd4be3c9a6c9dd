package verdict

import (
	"fmt"
	"slices"
	"strings"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
)

// host is one part of a recording of several: a host at one time.
type host struct {
	name     string
	r        *recording.Recording
	s        *scene.Scene
	l        *ledger.Ledger
	found    []*candidate
	settled  []Entry
	symptoms []scene.Symptom
	delays   map[scene.NodeID][]ledger.Delay
}

// judgeHosts weighs the suspects on each part by itself, and connects across them what calls that both hosts saw tie
// (byFlows), and else only what coincides in time more often than by chance.
func judgeHosts(v *Verdict, all []*suspect.Suspect) (found []*candidate, settled []Entry, g *graph) {
	var hosts []*host
	names := v.Recording.PartNames()
	for i, r := range v.Recording.Parts {
		r.Baseline = v.Recording.Baseline
		h := &host{name: names[i], r: r, s: scene.Build(r)}
		l := ledger.Build(h.s, r)
		h.l = l
		h.delays = addFelt(h.s, l)
		on := tried(h.s, r)
		addTried(h.s, on)
		h.found, h.settled = weighAll(h.s, r, l, nil, on, all)
		h.symptoms = symptoms(h.s, r, l, nil, h.found)
		hosts = append(hosts, h)
	}
	reportedOnce(hosts)
	seen := slices.ContainsFunc(hosts, func(h *host) bool { return slices.ContainsFunc(h.symptoms, measured) })
	for _, h := range hosts {
		h.symptoms = withoutInferred(h.symptoms, seen)
	}
	g = &graph{out: map[*candidate][]edge{}, in: map[*candidate][]edge{}, windows: map[*candidate]recording.Interval{}}
	at := map[*candidate]*host{}
	var where []*host // of each symptom
	for _, h := range hosts {
		own := connect(h.s, h.found, h.symptoms, h.delays)
		h.nameSubjects(own)
		g.take(own)
		for len(where) < len(g.symptoms) {
			where = append(where, h)
		}
		for _, c := range h.found {
			at[c], g.windows[c], c.host = h, h.s.Window, h
		}
	}
	g.byFlows(hosts, at, where)
	g.across(at, where)
	v.Warnings = append(v.Warnings, g.doubts...)
	g.breakLoops()
	first := hosts[0]
	for _, h := range hosts {
		if len(h.symptoms) > len(first.symptoms) || len(h.found) > 0 && len(first.found) == 0 {
			first = h
		}
	}
	v.Scene, v.Symptoms, v.hosts, v.parts = first.s, g.symptoms, where, hosts
	return g.found, settleHosts(hosts, all), g
}

// reportedOnce keeps what the user reported of a subject on the hosts that have that
// subject, and of none that any has, on the first.
func reportedOnce(hosts []*host) {
	names := map[string]bool{} // texts of which some host has the subject
	for _, h := range hosts {
		for _, sym := range h.symptoms {
			if sym.Reported && sym.Subject.Kind != recording.KindHost {
				names[plainReport(sym.Text)] = true
			}
		}
	}
	for _, h := range hosts {
		h.symptoms = slices.DeleteFunc(h.symptoms, func(sym scene.Symptom) bool {
			return sym.Reported && sym.Subject.Kind == recording.KindHost && names[plainReport(sym.Text)]
		})
	}
}

// plainReport is what the user said, without what was found to it.
func plainReport(text string) string {
	text, _, _ = strings.Cut(text, " (")
	return text
}

// nameSubjects says on which host each subject is.
func (h *host) nameSubjects(g *graph) {
	on := func(sub *recording.Subject) {
		where := " in " + h.name // a file that tells no host
		if h.r.Manifest.Host != "" {
			where = " on " + h.name
		}
		if sub.Host != "" && sub.Host != h.r.Manifest.Host { // a reader told it of another
			return
		}
		if sub.Host = h.r.Manifest.Host; sub.Name != "" && !strings.HasSuffix(sub.Name, where) {
			sub.Name += where
		}
	}
	for _, c := range h.found {
		on(&c.finding.Subject)
		c.finding.Related = slices.Clone(c.finding.Related)
		for i := range c.finding.Related {
			on(&c.finding.Related[i])
		}
	}
	for i := range g.symptoms {
		if sym := &g.symptoms[i]; !sym.Reported || sym.Subject.Kind != recording.KindHost {
			on(&sym.Subject)
		}
	}
	for i := range h.settled {
		if e := &h.settled[i]; e.Subject.Kind != "" {
			e.host = h
			on(&e.Subject)
		}
	}
}

// take adds another host's graph. What the user reported of no subject in particular is
// one symptom, whichever host is to blame.
func (g *graph) take(own *graph) {
	at := make([]int, len(own.symptoms))
	for i, sym := range own.symptoms {
		at[i] = len(g.symptoms)
		if sym.Reported && sym.Subject.Kind == recording.KindHost {
			if same := slices.IndexFunc(g.symptoms, func(have scene.Symptom) bool {
				return have.Reported && have.Subject.Kind == recording.KindHost && have.Text == sym.Text
			}); same >= 0 {
				at[i] = same
				continue
			}
		}
		g.symptoms = append(g.symptoms, sym)
	}
	g.found = append(g.found, own.found...)
	for c, edges := range own.out {
		for _, e := range edges {
			if e.to == nil {
				e.symptom = at[e.symptom]
			}
			g.out[c] = append(g.out[c], e)
		}
	}
	for c, edges := range own.in {
		g.in[c] = append(g.in[c], edges...)
	}
}

// settleHosts makes one list of what was settled without weighing: what names a
// subject as it is, and of each suspect without one a single entry that says where it
// was measured.
func settleHosts(hosts []*host, all []*suspect.Suspect) (out []Entry) {
	for _, sus := range all {
		var cleared, unseen []string
		var entry *Entry
		named := false
		for _, h := range hosts {
			named = named || slices.ContainsFunc(h.found, func(c *candidate) bool { return c.suspect == sus })
			for _, e := range h.settled {
				switch {
				case e.Suspect != sus:
				case e.Subject.Kind != "":
					named = true
					out = append(out, e)
				case e.State == Cleared:
					cleared = append(cleared, h.name)
					if entry == nil || entry.State != Cleared {
						entry = &e
					}
				default:
					unseen = append(unseen, h.name)
					if entry == nil {
						entry = &e
					}
				}
			}
		}
		if entry == nil || named {
			continue
		}
		if len(cleared) > 0 && len(unseen) > 0 {
			entry.Text += fmt.Sprintf(" (on %s; not measured on %s)", list(cleared), list(unseen))
		}
		out = append(out, *entry)
	}
	return out
}

// list names a few.
func list(names []string) string {
	if len(names) > 4 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
	}
	return strings.Join(names, ", ")
}

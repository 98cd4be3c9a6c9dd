package verdict

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"snag/suspects/streams"
	"snag/suspects/suspect"
)

// abstain takes back what can't be known: culprits whose proof the observer's
// own lateness undermines, and culprits that explain the same harm with nothing
// to tell them apart. It runs before entries are made.
func (v *Verdict) abstain(g *graph, settled []Entry) {
	for _, c := range g.found {
		if c.suspect.Name != observerName {
			continue
		}
		v.Warnings = append(v.Warnings, c.finding.Text)
		v.Next = firstOf(v.Next, c.finding.Next, c.suspect.Next)
		c.state = v.undermine(g, c)
	}
	v.tellApart(g)
	if v.Abstained == "" && len(v.Symptoms) > 0 && !v.Symptoms[0].Elsewhere && !someCulprit(g) {
		var at *host
		if len(v.hosts) > 0 {
			at = v.hosts[0]
		}
		r, s := v.viewOf(at)
		alone, next := streams.Alone(s, r, v.Symptoms[0])
		if alone == "" {
			alone, next = unprovedByTrial(v.Symptoms[0], settled)
		}
		if alone == "" {
			alone, next = v.unclaimed(v.Symptoms[0])
		}
		v.Abstained = firstOf(alone, "something is wrong, and no suspect of the catalogue was proved to cause it")
		v.Next = firstOf(v.Next, next, nextFor(v.Symptoms[0]))
	}
}

// undermine takes back the culprits whose proof rests on samples that the observer
// took too late or lost, and returns what the observer is then: the culprit where a
// symptom can't be explained for it, or is its own doing; a contribution to the doubt
// where something stands nevertheless; else a risk, for nobody was harmed by snag
// being late.
func (v *Verdict) undermine(g *graph, observer *candidate) State {
	stands, undone, elsewhere := false, false, false
	onlyBegan := !slices.ContainsFunc(observer.finding.Evidence, func(e suspect.Evidence) bool {
		return e.Side == suspect.For && e.Origin != streams.OriginBegan
	})
	for _, c := range g.found {
		switch {
		case c == observer || c.state != Culprit || c.elsewhere:
		case c.host != observer.host: // another host's snag saw what it saw
			elsewhere = true
		case onlyBegan || undoubted(c.finding.Evidence):
			stands = true
		default:
			c.state, undone = Contributing, true
		}
	}
	switch {
	case stands, undone && elsewhere:
		return Contributing
	case undone:
		v.Abstained = "snag itself ran late, and nothing decisive stands without its samples"
		return Culprit
	case len(g.explains(observer)) > 0: // its own reader made what looks like a freeze
		return Culprit
	}
	if elsewhere {
		return Risk
	}
	v.Abstained = "snag itself ran late or lost events: that it saw nobody to blame clears nobody"
	return Risk
}

func someCulprit(g *graph) bool {
	for _, c := range g.found {
		if c.state == Culprit && !c.elsewhere {
			return true
		}
	}
	return false
}

// undoubted: a decisive piece that rests on what the kernel counted, whenever
// snag came to read it.
func undoubted(all []suspect.Evidence) bool {
	for _, e := range all {
		if e.Side == suspect.For && e.Grade == suspect.Decisive && e.Doubt == "" {
			return true
		}
	}
	return false
}

// asSure: two confidences nearer than this tell nothing apart.
const asSure = 0.1

// tellApart demotes a culprit and its rival when both explain the same symptoms,
// neither measured a harm of its own, and neither is surer.
func (v *Verdict) tellApart(g *graph) {
	for _, a := range g.found {
		for _, b := range g.found {
			if a.state != Culprit || b.state != Contributing || a.finding.Harm.Amount > 0 || b.finding.Harm.Amount > 0 {
				continue
			}
			if x, y := a.finding.Subject, b.finding.Subject; a.suspect == b.suspect && x.Remote != "" && x.Remote == y.Remote && x.Netns == y.Netns {
				continue // connections to one place have one cause
			}
			if g.provenInTime(a) != g.provenInTime(b) {
				continue // the times tell them apart
			}
			if decisive(a) != decisive(b) || math.Abs(a.confidence-b.confidence) > asSure || !same(g.explains(a), g.explains(b)) {
				continue
			}
			if a.state = Contributing; a.elsewhere {
				continue
			}
			v.Abstained = fmt.Sprintf("%s and %s explain the same harm, and nothing distinguishes them", a.suspect.Name, b.suspect.Name)
			v.Next = firstOf(a.finding.Next, b.finding.Next, a.suspect.Next, b.suspect.Next)
		}
	}
}

// provenInTime: the onsets of a symptom fall on it more often than by chance.
func (g *graph) provenInTime(c *candidate) bool {
	for _, e := range g.out[c] {
		if e.to == nil && e.coincidence.Proves() {
			return true
		}
	}
	return false
}

func decisive(c *candidate) bool {
	return count(c.finding.Evidence, suspect.For, suspect.Decisive) > 0
}

func same(a, b map[int]float64) bool {
	return slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)))
}

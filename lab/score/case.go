// Package score says how far snag can be trusted: it plans the runs of the lab's
// incidents, keeps their recordings, marks what was said of each, and sums the
// marks up. What judges a recording comes in from outside, so that snag and the
// rules that it is compared with are scored by the same code on the same runs.
package score

import (
	"fmt"
	"slices"

	"snag/lab"
)

// Case is one run: an incident, or several at the same time, in one variant at
// one level.
type Case struct {
	Incidents []lab.Incident
	Variant   lab.Variant
	Level     lab.Level
	Round     int // from 0; runs beyond the first of the same case
}

// Name is what is made: the incidents' names joined by "+".
func (c Case) Name() string { return lab.NameOf(c.Incidents) }

// Pair reports whether several incidents are made at the same time.
func (c Case) Pair() bool { return len(c.Incidents) > 1 }

// Key names the case's files: qdisc-drop-sick, qdisc-drop-sick-barely.
func (c Case) Key() string {
	key := c.Name() + "-" + string(c.Variant)
	if c.Level != lab.Plain {
		key += "-" + string(c.Level)
	}
	if c.Round > 0 {
		key += fmt.Sprintf("-%d", c.Round+1)
	}
	return key
}

// Wants is the verdict wanted of each incident.
func (c Case) Wants() []lab.Want {
	var out []lab.Want
	for _, i := range c.Incidents {
		out = append(out, i.WantIn(c.Variant))
	}
	return out
}

// Plan lists the cases in the order in which they tell most: each incident as it
// is meant, then those in which nobody is to be accused, then the pairs, then the
// other levels. A run that has to stop early has covered what matters.
func Plan(incidents []lab.Incident, pairs [][]lab.Incident, levels []lab.Level) []Case {
	var out []Case
	add := func(v lab.Variant, l lab.Level) {
		for _, i := range incidents {
			out = append(out, Case{Incidents: []lab.Incident{i}, Variant: v, Level: l})
		}
	}
	if slices.Contains(levels, lab.Plain) {
		add(lab.Sick, lab.Plain)
		add(lab.Healthy, lab.Plain)
		add(lab.Distractor, lab.Plain)
	}
	for _, p := range pairs {
		out = append(out, Case{Incidents: p, Variant: lab.Sick, Level: lab.Plain})
	}
	for _, l := range levels {
		if l != lab.Plain {
			add(lab.Sick, l)
		}
	}
	return out
}

// Repeat lists the cases again for each round after the first, in the same order.
func Repeat(cases []Case, rounds int) []Case {
	var out []Case
	for n := range rounds {
		for _, c := range cases {
			c.Round = n
			out = append(out, c)
		}
	}
	return out
}

package main

import (
	"fmt"
	"regexp"
	"slices"
)

// fact is one figure that a recorder has: its mean over the healthy time before an
// incident and over the incident.
type fact struct {
	Name   string  `json:"name"`
	Before float64 `json:"before"`
	During float64 `json:"during"`
}

func (f fact) String() string {
	return fmt.Sprintf("%s: %.4g before, %.4g during", f.Name, f.Before, f.During)
}

// answer is what a recorder has of one incident.
type answer struct {
	Facts []fact `json:"-"`
	// Harm are sentences of the tool on who was affected; Said are those on a cause: an
	// alarm that went off in that time, or a culprit of a verdict.
	Harm []string `json:"harm,omitempty"`
	Said []string `json:"said,omitempty"`
}

// The rules, the same for every tool and written before any answer was read:
//   - A figure has changed when its mean is twice what it was, or half where it is to fall.
//   - The symptom is visible if a figure that the incident moves has changed, or if a
//     sentence says that a party of the incident was affected.
//   - The guilty one is named if a figure that is its own (a process, socket, disk or
//     control group by its name, and the kind of figure that the incident is about) has
//     changed and, where there are many such figures, is one of the three highest; or if
//     the tool names it in what it says of a cause.
//   - A cause is stated if the tool says of itself what kind of trouble it was, in that time.
//
// Nobody gets a point for a figure that a person could find who knows the answer: that
// a list of all processes has the guilty one in it names nobody.

// pattern is a set of regular expressions that all must match.
type pattern []string

func (p pattern) match(s string) bool {
	return !slices.ContainsFunc(p, func(e string) bool { return !regexp.MustCompile("(?i)" + e).MatchString(s) })
}

// rule is one way to see something in figures.
type rule struct {
	name pattern // of the figure
	fall bool    // it halves; otherwise it doubles
	// among are the figures that it is compared with: it must be one of the three
	// highest of them. Empty: it needs not.
	among pattern
}

// seen returns the figures that a rule finds.
func (r rule) seen(facts []fact) (out []fact) {
	var least float64
	if len(r.among) > 0 {
		var others []float64
		for _, f := range facts {
			if r.among.match(f.Name) {
				others = append(others, f.During)
			}
		}
		slices.Sort(others)
		if n := len(others); n > 3 {
			least = others[n-3]
		}
	}
	for _, f := range facts {
		changed := f.During > 0 && f.During >= 2*f.Before
		if r.fall {
			changed = f.Before > 0 && f.During <= f.Before/2
		}
		if changed && f.During >= least && r.name.match(f.Name) {
			out = append(out, f)
		}
	}
	return out
}

// expect is what an incident is to be found by.
type expect struct {
	symptom []rule
	// parties are the names and ports of those who are affected.
	parties pattern
	guilty  []rule
	who     pattern // the guilty one in a sentence
	cause   pattern // the kind of trouble in a sentence
}

// score is what of an incident a recorder answers.
type score struct {
	Visible  bool     `json:"visible"`
	Guilty   bool     `json:"guilty"`
	Cause    bool     `json:"cause"`
	Others   int      `json:"other_causes_said"`
	Evidence []string `json:"evidence,omitempty"`
	answer
}

// mostEvidence of each kind is kept.
const mostEvidence = 4

func (e expect) score(a answer) score {
	s := score{answer: a}
	note := func(what string, facts []fact) bool {
		for _, f := range facts[:min(len(facts), mostEvidence)] {
			s.Evidence = append(s.Evidence, what+": "+f.String())
		}
		return len(facts) > 0
	}
	for _, r := range e.symptom {
		s.Visible = note("symptom", r.seen(a.Facts)) || s.Visible
	}
	s.Visible = s.Visible || slices.ContainsFunc(a.Harm, e.parties.match)
	for _, r := range e.guilty {
		s.Guilty = note("guilty", r.seen(a.Facts)) || s.Guilty
	}
	for _, said := range a.Said {
		switch {
		case e.cause.match(said):
			s.Cause = true
			s.Guilty = s.Guilty || e.who.match(said)
			s.Visible = true
			s.Evidence = append(s.Evidence, "cause: "+said)
		default:
			s.Others++
		}
	}
	return s
}

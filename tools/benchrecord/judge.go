package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"snag/tools/benchhost"
)

type outcome int

const (
	notAsked outcome = iota
	nothing
	symptom
	culprit
)

// judgement is what one tool knew of one incident.
type judgement struct {
	outcome
	others   int      // sentences on other causes
	evidence []string // or why it was not asked
}

func (p pattern) match(s string) bool {
	return !slices.ContainsFunc(p, func(e string) bool { return !regexp.MustCompile("(?i)" + e).MatchString(s) })
}

// reads says whether a figure of that name is meant. Of the thousands of functions in a profile
// some have any word in their names, so that only a rule on functions reads them.
func (g figure) reads(name string) bool {
	ofFunctions := strings.HasPrefix(g.name[0], "^function of ")
	return strings.HasPrefix(name, "function of ") == ofFunctions && g.name.match(name)
}

// seen returns what changed as described, in order of names.
func (g figure) seen(before, during figures) (out []string) {
	highest := 0.0
	if len(g.among) > 0 {
		var others []float64
		for name, v := range during {
			if g.among.match(name) {
				others = append(others, v)
			}
		}
		slices.Sort(others)
		if n := len(others); n > 3 {
			highest = others[n-3]
		}
	}
	for name := range before {
		if _, ok := during[name]; !ok && g.falls && before[name] > 0 && g.reads(name) {
			out = append(out, fmt.Sprintf("%s: %.4g before, none during", name, before[name]))
		}
	}
	for name, v := range during {
		changed := v > 0 && v >= 2*before[name]
		if g.falls {
			changed = before[name] > 0 && v <= before[name]/2
		}
		if changed && v >= highest && g.reads(name) {
			out = append(out, fmt.Sprintf("%s: %.4g before, %.4g during", name, before[name], v))
		}
	}
	slices.Sort(out)
	return out
}

// judge applies the rules of an incident to the answers of a tool.
func (r rules) judge(before, during answer) judgement {
	j := judgement{outcome: nothing}
	note := func(o outcome, what string) {
		j.outcome = max(j.outcome, o)
		j.evidence = append(j.evidence, what)
	}
	for o, all := range map[outcome][]figure{symptom: r.symptom, culprit: r.own} {
		for _, g := range all {
			for _, text := range g.seen(before.figures, during.figures) {
				note(o, text)
			}
		}
	}
	for _, text := range during.harm {
		if r.parties.match(text) {
			note(symptom, "harm: "+text)
		}
	}
	for _, text := range during.causes {
		switch {
		case !r.cause.match(text):
			j.others++
			note(nothing, "another cause: "+text)
		case r.who.match(text):
			note(culprit, "cause: "+text)
		default:
			note(symptom, "cause, of nobody: "+text)
		}
	}
	slices.Sort(j.evidence)
	return j
}

// judged is one incident with the judgement of each tool.
type judged struct {
	event
	rules
	tools map[string]judgement
}

// judgeAll reads the kept texts of every incident and judges them.
func judgeAll(dir string) (all []judged, err error) {
	for _, r := range allRules {
		j := judged{rules: r, tools: map[string]judgement{}}
		at := filepath.Join(dir, r.incident)
		if _, err := os.Stat(at); err != nil {
			continue // it was left out
		}
		if err := benchhost.ReadJSON(filepath.Join(at, "incident.json"), "bench-record", &j.event); err != nil {
			return nil, err
		}
		for _, tool := range tools {
			if why := j.Missing[tool] + j.Failed; why != "" {
				j.tools[tool] = judgement{evidence: []string{why}}
				continue
			}
			before, during, err := readAnswers(at, tool, j.event)
			if err != nil {
				j.tools[tool] = judgement{evidence: []string{err.Error()}}
				continue
			}
			j.tools[tool] = r.judge(before, during)
		}
		all = append(all, j)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no incident is kept in %s: make bench-record PART=incidents makes them", dir)
	}
	return all, nil
}

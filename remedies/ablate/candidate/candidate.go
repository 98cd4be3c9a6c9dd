// Package candidate is which settings an ablation tests, each with its two values, and
// which it does not test and why: from a plan, or from inherited files of sysctls.
package candidate

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"snag/remedies/apply"
	"snag/remedies/knob"
	"snag/remedies/plan"
	"snag/remedies/sysctld"
)

// Candidate is one setting to be tested.
type Candidate struct {
	Switch apply.Switch
	From   string // the file and line, or the plan's change
	Now    string // what it is set to
	// Needs is what else must happen for it to hold: a restart of whom.
	Needs string
	// Change is the plan's, where it is of one.
	Change *plan.Change
}

// Left is a setting that is not tested.
type Left struct {
	Name string `json:"name"`
	From string `json:"from"`
	Why  string `json:"why"`
}

// Where is what the candidates are looked at with.
type Where struct {
	Host  knob.Host
	Kinds map[string]knob.Knob
	Netns string // of inherited settings
	// Defaults are values for off that a person gave, by the sysctl's name.
	Defaults map[string]string
	// Live: the load is what goes on by itself, on connections that stay open.
	Live bool
	// Triable reports what keeps a setting from being switched here.
	Triable func(apply.Switch) error
}

// FromPlan are the changes of a plan: on is what it would set, off what was before.
func FromPlan(p *plan.Plan, w Where) (all []Candidate, left []Left) {
	for i := range p.Changes {
		c := &p.Changes[i]
		n := Candidate{Switch: apply.Switch{ID: c.ID, Target: c.Target, On: c.Then, Off: c.Now, With: c.With}, From: "change " + c.ID, Needs: c.Needs, Change: c}
		all, left = w.put(n, all, left)
	}
	kept := map[string]bool{}
	for _, c := range all {
		kept[c.Switch.ID] = true
	}
	for i := range all { // of those that only hold together, some may not be testable
		var with []string
		for _, id := range all[i].Switch.With {
			if kept[id] {
				with = append(with, id)
			}
		}
		all[i].Switch.With = with
	}
	return all, left
}

// FromFiles are inherited sysctls: on is what the files set, off the kernel's default.
func FromFiles(settings []sysctld.Setting, bad []sysctld.Problem, w Where) (all []Candidate, left []Left) {
	for _, b := range bad {
		left = append(left, Left{strconv.Quote(b.Text), place(b.File, b.Line), b.Why})
	}
	for _, s := range settings {
		t := plan.Target{Kind: "sysctl", Name: s.Name, Netns: w.Netns}
		n := Candidate{Switch: apply.Switch{ID: strconv.Itoa(len(all) + 1), Target: t, On: s.Value}, From: place(s.File, s.Line)}
		if err := w.Kinds["sysctl"].Valid(t, s.Value); err != nil {
			left = append(left, Left{s.Name, n.From, err.Error()})
			continue
		}
		off, ok := w.Defaults[s.Name]
		if !ok {
			var err error
			if off, err = w.Host.Default(s.Name); err != nil {
				why := "its default is not known: " + err.Error()
				if errors.Is(err, knob.ErrNoDefault) {
					why = fmt.Sprintf("the kernel computes its default: give it with --default %s=VALUE", s.Name)
				}
				left = append(left, Left{s.Name, n.From, why})
				continue
			}
		}
		n.Switch.Off = off
		all, left = w.put(n, all, left)
	}
	return all, left
}

func place(file string, line int) string { return filepath.Base(file) + ":" + strconv.Itoa(line) }

// put adds a candidate, or why it is none.
func (w Where) put(n Candidate, all []Candidate, left []Left) ([]Candidate, []Left) {
	t := n.Switch.Target
	why := ""
	k, ok := w.Kinds[t.Kind]
	switch {
	case !ok:
		why = fmt.Sprintf("snag changes no %q", t.Kind)
	case k.Same(t, n.Switch.On, n.Switch.Off):
		why = "it is the kernel's own default: " + n.Switch.On
	case w.Live && (n.Needs != "" || t.Kind == "sysctl" && knob.OnlyNew(t.Name)):
		why = "open connections keep what they have: test it with --load: its runs make new ones"
	}
	if why == "" {
		alone := n.Switch
		alone.With = nil
		if err := w.Triable(alone); err != nil {
			why = err.Error()
		}
	}
	if why == "" {
		now, err := k.Read(w.Host, t)
		if err == nil {
			n.Now = now
			return append(all, n), left
		}
		why = err.Error()
	}
	return all, append(left, Left{strings.TrimPrefix(t.String(), "sysctl "), n.From, why})
}

// Factors are the candidates by what is switched together: each is one, but for those
// that only hold together.
func Factors(all []Candidate) (out [][]int) {
	at := map[string]int{} // the factor of each
	for i, c := range all {
		at[c.Switch.ID] = i
	}
	var root func(i int) int
	parent := make([]int, len(all))
	for i := range parent {
		parent[i] = i
	}
	root = func(i int) int {
		for parent[i] != i {
			i = parent[i]
		}
		return i
	}
	for i, c := range all {
		for _, id := range c.Switch.With {
			if j, ok := at[id]; ok {
				a, b := root(i), root(j)
				parent[max(a, b)] = min(a, b)
			}
		}
	}
	index := map[int]int{}
	for i := range all {
		r := root(i)
		if _, ok := index[r]; !ok {
			index[r] = len(out)
			out = append(out, nil)
		}
		out[index[r]] = append(out[index[r]], i)
	}
	return out
}

// Package remedies turns a verdict into a plan: the fewest changes that remedy its
// culprit, and what only people and programs can do.
package remedies

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"snag/recording"
	"snag/remedies/plan"
	"snag/suspects"
	"snag/verdict"
)

// Here is the host that the plan is for.
type Here struct {
	// Netns names a network namespace as a plan does: "" for the host's own. ok is
	// false where it has no name: then nothing in it can be set by a plan.
	Netns func(id uint64) (name string, ok bool)
	// RouteTo is the destination of the route that leads to an address.
	RouteTo func(netns, address string) (string, error)
	// Started is when a process began (knob.Started).
	Started func(pid int) (uint64, error)
	// Read is what a target is set to now.
	Read func(plan.Target) (string, error)
	Same func(t plan.Target, a, b string) bool
}

// ErrNothing is of a verdict that names nothing to be remedied.
var ErrNothing = errors.New("the verdict names no culprit: there is nothing to plan")

// For makes the plan for a verdict's culprits, the surest first.
func For(v *verdict.Verdict, here Here) (*plan.Plan, error) {
	culprits := v.With(verdict.Culprit)
	if len(culprits) == 0 {
		return nil, ErrNothing
	}
	first := culprits[0]
	p := &plan.Plan{
		Version: plan.Version, Made: time.Now().UTC().Truncate(time.Second), Host: v.Recording.Manifest.Host, Kernel: v.Recording.Manifest.Kernel,
		For:    plan.Cause{Suspect: first.Suspect.Name, Subject: first.Subject.Name, Text: first.Text},
		Verify: check(v, first),
	}
	seen := map[string]bool{}
	groups := map[string][]int{}
	for _, e := range culprits {
		for _, s := range e.Settings {
			c, why := change(s, here)
			switch {
			case why != "":
				p.Advice = append(p.Advice, plan.Advice{Who: "you", Do: s.String(), Why: s.Why + " (" + why + ")"})
			case !seen[c.Target.String()]:
				seen[c.Target.String()] = true
				c.ID = strconv.Itoa(len(p.Changes) + 1)
				p.Changes = append(p.Changes, c)
				if s.Group != "" {
					key := e.ID + " " + s.Group
					groups[key] = append(groups[key], len(p.Changes)-1)
				}
			}
		}
		for _, c := range e.Calls {
			p.Advice = append(p.Advice, plan.Advice{Who: who(c.Who), Do: c.Do, Why: c.Why})
		}
		if len(e.Settings) == 0 && len(e.Calls) == 0 && e.Remedy != "" {
			p.Advice = append(p.Advice, plan.Advice{Who: "you", Do: e.Remedy, Why: e.Text})
		}
	}
	for _, all := range groups {
		for _, i := range all[1:] {
			p.Changes[i].With = append(p.Changes[i].With, p.Changes[all[0]].ID)
		}
	}
	return p, nil
}

// change makes a setting one of a plan; why says what keeps it from being one.
func change(s suspects.Setting, here Here) (c plan.Change, why string) {
	t := plan.Target{Kind: s.Kind, Name: s.Name, Device: s.At.Device, Path: s.At.Cgroup, Parent: s.Parent, Queue: s.Queue, IRQ: s.IRQ, Unit: s.Unit}
	if s.At.Netns != 0 {
		name, ok := here.Netns(s.At.Netns)
		if !ok {
			return c, "its network namespace has no name here: ip netns attach gives it one"
		}
		t.Netns = name
	}
	var err error
	if s.Kind == "nofile" {
		t.PID = s.At.PID
		if t.Started, err = here.Started(t.PID); err != nil {
			return c, err.Error()
		}
	}
	if s.Route != "" {
		if t.Route, err = here.RouteTo(t.Netns, s.Route); err != nil {
			return c, err.Error()
		}
	}
	now, err := here.Read(t)
	switch {
	case err != nil:
		return c, err.Error()
	case here.Same(t, now, s.Value):
		return c, "it is so already: " + now
	}
	return plan.Change{Target: t, Now: now, Then: s.Value, Why: s.Why, Risk: s.Risk, Needs: s.Needs}, ""
}

func who(sub recording.Subject) string {
	if sub.PID != 0 {
		return fmt.Sprintf("%s[%d]", sub.Comm, sub.PID)
	}
	if sub.Name != "" {
		return sub.Name
	}
	return "the program"
}

// check is how it is told that the culprit's worst symptom is gone.
func check(v *verdict.Verdict, e verdict.Entry) plan.Check {
	length := v.Scene.Window.Length(v.Scene.Window.End).Round(time.Second)
	c := plan.Check{For: length.String(), Before: e.Harm.Amount, Unit: e.Harm.Unit, Symptom: e.Harm.Symptom}
	for _, i := range e.Explains {
		if s := v.Symptoms[i]; c.Symptom == "" || s.Name == c.Symptom {
			c.Symptom, c.Subject, c.Before, c.Unit = s.Name, s.Subject.Name, s.Amount, s.Unit
			break
		}
	}
	return c
}

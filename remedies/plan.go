// Package remedies turns a verdict into a plan: the fewest changes that remedy its
// culprits, and what only people and programs can do.
package remedies

import (
	"errors"
	"strconv"
	"time"

	"snag/remedies/plan"
	"snag/suspects/suspect"
	"snag/verdict"
)

// Here is the host that the plan is for. What is nil is not asked.
type Here struct {
	// Netns names a network namespace as a plan does: "" for the host's own, "pid:N"
	// for one without a name that process N is in. ok is false where nobody is in it:
	// then nothing in it can be set by a plan.
	Netns func(id uint64) (name string, ok bool)
	// RouteTo is the destination of the route that leads to an address.
	RouteTo func(netns, address string) (string, error)
	// Started is when a process began (knob.Started).
	Started func(pid int) (uint64, error)
	// Read is what a target is set to now.
	Read func(plan.Target) (string, error)
	Same func(t plan.Target, a, b string) bool
	// Fit brings a value into the range that its knob takes (knob.Fit).
	Fit func(t plan.Target, value string) (string, error)
	// Needs is what else a target takes where its setting says nothing (knob.Needs).
	Needs func(plan.Target) string
	// Conflicts are settings of the host that work against a plan.
	Conflicts func(*plan.Plan) []string
}

// ErrNothing is of a verdict that names nothing to be remedied.
var ErrNothing = errors.New("the verdict names no culprit: there is nothing to plan")

// For makes the plan for a verdict's culprits, the surest first; for those of the target, where
// it has any. What they lead to
// needs no change of its own.
func For(v *verdict.Verdict, here Here) (*plan.Plan, error) {
	culprits := v.Here(verdict.Culprit)
	if len(culprits) == 0 { // the target has none
		culprits = v.With(verdict.Culprit)
	}
	if len(culprits) == 0 {
		return nil, ErrNothing
	}
	first := culprits[0]
	b := builder{here: here, at: map[string]int{}, p: &plan.Plan{
		Version: plan.Version, Made: plan.At(time.Now()), Host: v.Recording.Manifest.Host, Kernel: v.Recording.Manifest.Kernel,
		For:    plan.Cause{Suspect: first.Suspect.Name, Subject: first.Subject.Name, Text: first.Text},
		Verify: check(v, first),
	}}
	for _, e := range culprits {
		who := ""
		if len(culprits) > 1 {
			who = e.Suspect.Name + ", " + e.Subject.Name
		}
		b.settings(e.Settings, who, stands(e, v.Scene.Window.Length(v.Scene.Window.End)))
		b.advice(e)
	}
	return b.done(), nil
}

// builder gathers changes, each target once.
type builder struct {
	p    *plan.Plan
	here Here
	at   map[string]int // of a change, by its target
	// fine takes a setting that is so already; nil: it is told as advice.
	fine func(plan.Target, string)
}

// settings adds those of one finding: of those that each are enough the first that can
// be set, of those that only hold together all or none.
func (b *builder) settings(all []suspect.Setting, who, check string) {
	chosen, groups := map[string]bool{}, map[string][]string{}
	for i, s := range all {
		if s.Either != "" && chosen[s.Either] {
			continue
		}
		c, why := b.here.change(s)
		switch {
		case why == "":
		case s.Either != "" && anotherIsEnough(all[i+1:], s.Either):
			continue
		case b.fine != nil && c.Now != "":
			b.fine(c.Target, c.Now)
			continue
		default:
			b.advise(plan.Advice{Who: "you", Do: s.String(), Why: s.Why + " (" + why + ")"})
			continue
		}
		chosen[s.Either] = s.Either != ""
		c.For, c.Check = who, check
		id := b.add(c)
		if s.Group != "" {
			groups[s.Group] = append(groups[s.Group], id)
		}
	}
	for _, ids := range groups {
		for _, id := range ids[1:] {
			n, _ := strconv.Atoi(id)
			if id != ids[0] {
				b.p.Changes[n-1].With = append(b.p.Changes[n-1].With, ids[0])
			}
		}
	}
}

func anotherIsEnough(rest []suspect.Setting, either string) bool {
	for _, s := range rest {
		if s.Either == either {
			return true
		}
	}
	return false
}

// add puts a change into the plan, or into the one that sets the same already, and
// returns its id.
func (b *builder) add(c plan.Change) string {
	if i, ok := b.at[c.Target.String()]; ok {
		have := &b.p.Changes[i]
		then, same := stronger(have.Now, have.Then, c.Then)
		if !same {
			b.p.Conflicts = append(b.p.Conflicts, "change "+have.ID+": "+have.For+" wants "+have.Then+", and "+c.For+" wants "+c.Then+": the first is taken")
		}
		if then != have.Then {
			have.Then, have.Risk = then, c.Risk
		}
		if have.Why != c.Why {
			have.Why += "; " + c.Why
		}
		if c.For != "" && have.For != c.For {
			have.For += "; " + c.For
		}
		return have.ID
	}
	c.ID = strconv.Itoa(len(b.p.Changes) + 1)
	b.at[c.Target.String()] = len(b.p.Changes)
	b.p.Changes = append(b.p.Changes, c)
	return c.ID
}

func (b *builder) done() *plan.Plan {
	if b.here.Conflicts != nil {
		b.p.Conflicts = append(b.p.Conflicts, b.here.Conflicts(b.p)...)
	}
	return b.p
}

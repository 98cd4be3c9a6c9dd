package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxChanges of one plan: what people can still review.
const maxChanges = 200

// Kind reports what a target of one kind may be and what values it takes. It decides
// by the text alone and reads nothing.
type Kind interface {
	// Valid says what is wrong with a target, or with a value for it.
	Valid(t Target, value string) error
}

// Valid says all that is wrong with a plan.
func (p *Plan) Valid(kinds map[string]Kind) error {
	var all []error
	if len(p.Changes) > maxChanges {
		all = append(all, fmt.Errorf("it has %d changes; %d are the most that a plan may have", len(p.Changes), maxChanges))
	}
	ids, targets := map[string]bool{}, map[string]string{}
	for i, c := range p.Changes {
		switch {
		case c.ID == "":
			all = append(all, fmt.Errorf("change %d has no id", i+1))
		case ids[c.ID]:
			all = append(all, fmt.Errorf("two changes have the id %s", c.ID))
		}
		ids[c.ID] = true
		if other, ok := targets[c.Target.String()]; ok {
			all = append(all, fmt.Errorf("changes %s and %s set the same: %s", other, c.ID, c.Target))
		}
		targets[c.Target.String()] = c.ID
		if err := c.valid(kinds); err != nil {
			all = append(all, fmt.Errorf("change %s: %w", c.ID, err))
		}
	}
	for _, c := range p.Changes {
		for _, id := range c.With {
			if !ids[id] || id == c.ID {
				all = append(all, fmt.Errorf("change %s goes with %q, which is no other change of this plan", c.ID, id))
			}
		}
	}
	return errors.Join(all...)
}

func (c *Change) valid(kinds map[string]Kind) error {
	t := c.Target
	for _, text := range []string{t.Name, t.Netns, t.Device, t.Parent, t.Route, t.Unit, t.Path, c.Now, c.Then} {
		if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }); i >= 0 {
			return fmt.Errorf("%q has a control character", text)
		}
	}
	for _, name := range []string{t.Netns, t.Device, t.Unit} {
		if strings.ContainsAny(name, "/ \t") || name == "." || name == ".." {
			return fmt.Errorf("%q is not a name of a namespace, interface or unit", name)
		}
	}
	k, ok := kinds[t.Kind]
	if !ok {
		return fmt.Errorf("snag changes no %q: it knows %s", t.Kind, strings.Join(names(kinds), ", "))
	}
	if c.Then == c.Now {
		return fmt.Errorf("it changes nothing: %s is %q before and after", t, c.Now)
	}
	if err := k.Valid(t, c.Then); err != nil {
		return err
	}
	if c.Now == "" {
		return nil // it was not there: undo takes it away
	}
	if err := k.Valid(t, c.Now); err != nil {
		return fmt.Errorf("the value before: %w", err)
	}
	return nil
}

func names(kinds map[string]Kind) []string {
	var all []string
	for name := range kinds {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// String names a target as messages do: sysctl net.core.rmem_max in netns a.
func (t Target) String() string {
	s := t.Kind
	for _, part := range []string{t.Name, t.Unit, t.Route, t.Parent, t.Path} {
		if part != "" {
			s += " " + part
		}
	}
	if t.IRQ != 0 {
		s += fmt.Sprintf(" %d", t.IRQ)
	}
	if t.PID != 0 {
		s += fmt.Sprintf(" of process %d", t.PID)
	}
	if t.Device != "" {
		s += " of " + t.Device
	}
	if t.Queue != nil {
		s += fmt.Sprintf(" queue %d", *t.Queue)
	}
	if t.Netns != "" {
		s += " in netns " + t.Netns
	}
	return s
}

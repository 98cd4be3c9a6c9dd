// Package apply carries a plan out so that it can be taken back: every old value is
// on disk before its setting is touched, somebody waits to undo all before the first
// write, and what is kept was confirmed by another invocation, which shows that the
// host can still be reached.
package apply

import (
	"errors"
	"fmt"

	"snag/remedies/journal"
	"snag/remedies/knob"
	"snag/remedies/plan"
)

// log is the journal, or one of a test's that fails.
type log interface {
	Append(journal.Record) error
}

// Change is a step that was made, for whoever watches.
type Change struct {
	plan.Change
	Got string // as the kernel has it now
}

// do makes all changes of a plan in order, coupled ones next to each other. At the
// first that fails it stops; undoing is for its caller. tell is told of each.
func do(p *plan.Plan, h knob.Host, kinds map[string]knob.Knob, j log, tell func(Change)) error {
	if err := unchanged(p, h, kinds); err != nil {
		return err
	}
	for _, c := range Ordered(p.Changes) {
		k := kinds[c.Target.Kind]
		old, err := k.Read(h, c.Target)
		if err != nil {
			return fmt.Errorf("change %s: %w", c.ID, err)
		}
		if !k.Same(c.Target, old, c.Now) { // somebody was quicker than the look above
			return fmt.Errorf("change %s: %s", c.ID, moved(c, old))
		}
		// On disk first: a kill in between must not leave it so.
		r := journal.Record{Step: journal.Will, Change: c.ID, Target: &c.Target, Old: old, New: c.Then}
		if r.Netns, err = h.NetnsID(c.Target); err != nil {
			return fmt.Errorf("change %s: %w", c.ID, err)
		}
		if r.Exact, err = snapshot(k, h, c.Target); err != nil {
			return fmt.Errorf("change %s: %w", c.ID, err)
		}
		if err := j.Append(r); err != nil {
			return err
		}
		got, err := set(k, h, c.Target, c.Then)
		if err != nil {
			return errors.Join(fmt.Errorf("change %s: %w", c.ID, err), j.Append(journal.Record{Step: journal.Failed, Change: c.ID, Error: err.Error()}))
		}
		if err := j.Append(journal.Record{Step: journal.Did, Change: c.ID, Now: got}); err != nil {
			return err
		}
		if tell != nil {
			tell(Change{c, got})
		}
	}
	return j.Append(journal.Record{Step: journal.Applied})
}

// snapshot is all that the kernel reports, of a kind whose text does not hold it.
func snapshot(k knob.Knob, h knob.Host, t plan.Target) (string, error) {
	if exact, ok := k.(knob.Exact); ok {
		return exact.Snapshot(h, t)
	}
	return "", nil
}

// set writes a value and reads it back: the kernel may have taken another.
func set(k knob.Knob, h knob.Host, t plan.Target, value string) (got string, err error) {
	if err := k.Write(h, t, value); err != nil {
		return "", err
	}
	got, err = k.Read(h, t)
	if err != nil {
		return "", fmt.Errorf("%s was set to %q and can't be read back: %w", t, value, err)
	}
	if !k.Same(t, got, value) {
		return got, fmt.Errorf("%s was set to %q, and the kernel has %q", t, value, got)
	}
	return got, nil
}

// unchanged reports whether every value is still what it was when the plan was made:
// all are looked at before the first is changed.
func unchanged(p *plan.Plan, h knob.Host, kinds map[string]knob.Knob) error {
	var all []error
	for _, c := range p.Changes {
		k := kinds[c.Target.Kind]
		now, err := k.Read(h, c.Target)
		switch {
		case err != nil:
			all = append(all, fmt.Errorf("change %s: %w", c.ID, err))
		case !k.Same(c.Target, now, c.Now):
			all = append(all, fmt.Errorf("change %s: %s", c.ID, moved(c, now)))
		}
	}
	return errors.Join(all...)
}

func moved(c plan.Change, now string) string {
	return fmt.Sprintf("%s is %q now, and was %q when the plan was made: make the plan again", c.Target, now, c.Now)
}

// Ordered puts coupled changes next to each other, in the plan's order otherwise.
func Ordered(all []plan.Change) []plan.Change { return plan.Ordered(all) }

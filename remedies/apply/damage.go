package apply

import (
	"errors"
	"fmt"
	"slices"

	"snag/remedies/journal"
	"snag/remedies/knob"
	"snag/remedies/plan"
)

// fromPlan adds to what a damaged journal tells the changes that the plan beside it has
// and no record: their record may be the one that is lost. Only a plan whose checksum
// was read from the journal is taken for it.
func (s *State) fromPlan(p *plan.Plan) {
	if p == nil || s.PlanSum == "" {
		s.Unknown = true
		return
	}
	var all []Made
	for _, c := range Ordered(p.Changes) {
		i := slices.IndexFunc(s.Changes, func(m Made) bool { return m.ID == c.ID })
		if i >= 0 {
			all = append(all, s.Changes[i])
			continue
		}
		all = append(all, Made{ID: c.ID, Target: c.Target, Old: c.Now, New: c.Then, FromPlan: true})
	}
	s.Changes = all
}

// contradictions are where the records and the plan beside them do not tell the same.
// Where the journal has checksums there are none; in one of an older snag they are all
// that shows a wrong value, and such a value is not used.
func contradictions(s State, p *plan.Plan, kinds map[string]knob.Knob) error {
	if p == nil {
		return nil
	}
	var all []error
	for i := range s.Changes {
		c := &s.Changes[i]
		k := slices.IndexFunc(p.Changes, func(w plan.Change) bool { return w.ID == c.ID })
		kind, ok := kinds[c.Target.Kind]
		switch {
		case k < 0:
			c.Doubt = "the plan beside the journal has no such change"
		case p.Changes[k].Target.String() != c.Target.String():
			c.Doubt = fmt.Sprintf("the journal says that it is of %s, and the plan beside it of %s", c.Target, p.Changes[k].Target)
		case ok && !kind.Same(c.Target, c.Old, p.Changes[k].Now):
			c.Doubt = fmt.Sprintf("the journal says that it was %q before, and the plan beside it %q", c.Old, p.Changes[k].Now)
		}
		if c.Doubt != "" {
			all = append(all, fmt.Errorf("of %s %s", c.Target, c.Doubt))
		}
	}
	if s.Phase == Unconfirmed || s.Phase == Kept {
		for _, w := range p.Changes {
			if !slices.ContainsFunc(s.Changes, func(c Made) bool { return c.ID == w.ID }) {
				all = append(all, fmt.Errorf("the journal says that all changes were made, and has no record of %s", w.Target))
			}
		}
	}
	return errors.Join(all...)
}

// damaged is of a journal that can't be trusted: to try again changes nothing of it.
type damaged struct{ error }

func (d damaged) Unwrap() error { return d.error }

// undoDamaged puts back what is certain, and says what is not. It always is an error.
func (s *Store) undoDamaged(e Entry, why string, l log) error {
	if e.State.Damaged == "" {
		_ = l.Append(journal.Record{Step: journal.Damaged, Why: e.Damage.Error()})
	}
	err := undo(e.State, s.Boot, why, s.Host, s.Kinds, l)
	said := damaged{fmt.Errorf("the journal of plan %s can't be trusted: %w", e.ID, e.Damage)}
	fromPlan := 0
	for _, c := range e.State.Changes {
		if c.FromPlan {
			fromPlan++
		}
	}
	switch {
	case err != nil:
		return errors.Join(said, err, damaged{fmt.Errorf("all others of the %d settings that are certain are as before", len(e.State.Changes))})
	case e.State.Unknown:
		return errors.Join(said, damaged{fmt.Errorf("certain: the %d settings with readable records are as before; not certain: which others were changed. Compare them by hand with %s/%s, then remove the folder", len(e.State.Changes), e.Dir, planFile)})
	}
	return errors.Join(said, damaged{fmt.Errorf("certain: all %d settings of the plan were looked at and are as before (%d of them by the plan beside the journal; its checksum is right); not certain: what else the lost records said", len(e.State.Changes), fromPlan)})
}

package apply

import (
	"fmt"

	"snag/remedies/journal"
)

// Verifiable finds a plan whose changes hold now, for a look at whether they help.
func (s *Store) Verifiable(id string) (Entry, error) {
	e, err := s.Find(id)
	switch {
	case err != nil:
		return e, err
	case e.Damage != nil:
		return e, fmt.Errorf("what plan %s did is not known: %w", e.ID, e.Damage)
	case e.Plan == nil:
		return e, fmt.Errorf("the plan of %s can't be read from its folder %s", e.ID, e.Dir)
	case e.State.Boot != s.Boot:
		return e, fmt.Errorf("plan %s can't be verified: the host was booted since, and its changes went with that", e.ID)
	case e.State.Phase != Unconfirmed && e.State.Phase != Kept:
		return e, fmt.Errorf("plan %s can't be verified: it is %s", e.ID, e.State.Phase)
	}
	return e, nil
}

// Verify notes what a look at the outcome told. A plan that was undone meanwhile, by
// its guard or a person, takes none: what was measured was not its doing alone.
func (s *Store) Verify(id string, v Verified) (Entry, error) {
	return s.with(id, func(e Entry, l log) error {
		if e.State.Phase != Unconfirmed && e.State.Phase != Kept {
			return fmt.Errorf("plan %s was taken back while it was measured (%s): it can't be judged", e.ID, e.State.Why)
		}
		return l.Append(journal.Record{Step: journal.Verified, Now: v.Outcome, Why: v.Text, File: v.Dir})
	})
}

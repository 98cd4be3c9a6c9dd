package apply

import (
	"errors"
	"time"
)

// Guarded reports whether somebody waits for the plan's deadline.
func (e Entry) Guarded() bool { return held(e.Dir, guardFile) }

// overdueBy is how long after its deadline a plan is taken for left alone: a guard that
// lives looks four times per second.
const overdueBy = 2 * time.Second

// Overdue is a plan that was past its deadline and had no guard.
type Overdue struct {
	Entry
	Err error // why it could not be undone; nil: it is
}

// UndoOverdue takes back the plans of this boot that are past their deadline and whose
// guard is gone. Where another snag is at work it leaves that to it.
func (s *Store) UndoOverdue() (all []Overdue) {
	entries, err := s.All()
	if err != nil {
		return nil
	}
	for _, e := range entries {
		st := e.State
		if !st.Open() || st.Boot != s.Boot || st.Settled() || e.Guarded() || st.Damaged != "" {
			continue // one that could not be undone is told of by status, not tried each time
		}
		if !s.over(st, overdueBy) && !abandoned(e) {
			continue
		}
		why := "it was not confirmed by " + s.DeadlineOf(st).Format(time.TimeOnly) + ", and its guard was gone"
		if abandoned(e) {
			why = "the snag that tried the settings out has ended, and its guard was gone"
		}
		undone, err := s.Undo(e.ID, why)
		if !errors.Is(err, ErrLocked) {
			all = append(all, Overdue{undone, err})
		}
	}
	return all
}

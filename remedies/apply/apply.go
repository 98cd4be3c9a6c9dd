package apply

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"snag/remedies/journal"
	"snag/remedies/plan"
)

// Within is how long confirm may take, unless said otherwise.
const Within = 2 * time.Minute

// Apply carries a plan out. All of it is made, or nothing stays: what was made before
// an error is undone before Apply returns. The changes last until the deadline, unless
// Confirm is called before.
func (s *Store) Apply(p *plan.Plan, within time.Duration, tell func(Change)) (Entry, error) {
	if err := s.valid(p); err != nil {
		return Entry{}, fmt.Errorf("nothing was changed: %w", err)
	}
	if within < 5*time.Second || within > 24*time.Hour {
		return Entry{}, fmt.Errorf("--within %s: between 5 s and a day must be left to confirm", within)
	}
	unlock, err := s.lock(true)
	if err != nil {
		return Entry{}, err
	}
	defer unlock()
	if err := s.free(); err != nil {
		return Entry{}, err
	}
	if err := unchanged(p, s.Host, s.Kinds); err != nil {
		return Entry{}, fmt.Errorf("nothing was changed: %w", err)
	}
	dir, j, deadline, err := s.begin(p, within)
	if err != nil {
		return Entry{}, fmt.Errorf("nothing was changed: %w", err)
	}
	defer func() { _ = j.Close() }()
	l := s.log(j)
	id := filepath.Base(dir)
	who, err := s.Arm(dir, deadline)
	if err == nil {
		err = l.Append(journal.Record{Step: journal.Armed, By: who})
	}
	if err != nil {
		return Entry{}, errors.Join(fmt.Errorf("nothing was changed: %w", err), l.Append(journal.Record{Step: journal.Undone}))
	}
	if err := do(p, s.Host, s.Kinds, l, tell); err != nil {
		err = s.takeAllBack(j, l, err)
		return s.entry(id), err
	}
	return s.entry(id), nil
}

// Check reports whether a plan can be carried out here, and changes nothing.
func (s *Store) Check(p *plan.Plan) error {
	if err := s.valid(p); err != nil {
		return err
	}
	return unchanged(p, s.Host, s.Kinds)
}

func (s *Store) valid(p *plan.Plan) error {
	if err := p.Valid(s.forPlan()); err != nil {
		return fmt.Errorf("the plan is not valid: %w", err)
	}
	if len(p.Changes) == 0 {
		return errors.New("the plan has no change that snag could make: what it advises, people do")
	}
	return nil
}

// free reports whether no plan waits for somebody, of this store or of another one.
func (s *Store) free() error {
	all, err := s.All()
	if err != nil {
		return err
	}
	for _, e := range all {
		if err := s.waits(e); err != nil {
			return err
		}
	}
	return s.freeElsewhere()
}

// takeAllBack undoes what was made before an error.
func (s *Store) takeAllBack(j *journal.Journal, l log, cause error) error {
	err := undo(StateOf(j.Content().Records), s.Boot, "a change failed", s.Host, s.Kinds, l)
	switch {
	case OnlyNotNoted(err):
		return errors.Join(cause, fmt.Errorf("all that was changed before is undone; %w", err))
	case err != nil:
		return errors.Join(cause, fmt.Errorf("and it could not all be undone: %w; snag tune undo tries again", err))
	}
	return errors.Join(cause, errors.New("all that was changed before is undone"))
}

// Confirm keeps what a plan changed. It must be another invocation than Apply's: that
// it came shows that the host can be reached.
func (s *Store) Confirm(id string) (Entry, error) {
	return s.with(id, func(e Entry, l log) error {
		if e.Damage != nil {
			return fmt.Errorf("plan %s can't be confirmed: what it did is not known for sure: %w", e.ID, e.Damage)
		}
		switch e.State.Phase {
		case Unconfirmed:
		case Kept:
			return fmt.Errorf("plan %s is confirmed already", e.ID)
		default:
			return fmt.Errorf("plan %s can't be confirmed: it is %s", e.ID, e.State.Phase)
		}
		if e.State.Boot != s.Boot {
			return fmt.Errorf("plan %s can't be confirmed: the host was booted since, and its changes went with that", e.ID)
		}
		if s.over(e.State, 0) {
			return fmt.Errorf("plan %s can't be confirmed: its time was over at %s; it is being undone", e.ID, s.DeadlineOf(e.State).Format(time.TimeOnly))
		}
		return l.Append(journal.Record{Step: journal.Confirmed})
	})
}

// Undo takes back what a plan changed, whenever that was. ErrNotNoted: it did, and the
// journal could not be written.
func (s *Store) Undo(id, why string) (Entry, error) {
	return s.with(id, func(e Entry, l log) error {
		switch {
		case e.State.Phase == Undone && len(e.State.Files) == 0 && e.State.Why != "":
			return fmt.Errorf("plan %s is undone already (%s)", e.ID, e.State.Why)
		case e.State.Phase == Undone && len(e.State.Files) == 0:
			return fmt.Errorf("plan %s is undone already: it changed nothing", e.ID)
		case e.Damage != nil:
			return errors.Join(s.removeFiles(e.State.Files, l), s.undoDamaged(e, why, l))
		case e.State.Phase == Nothing:
			return l.Append(journal.Record{Step: journal.Undone})
		}
		// The files first: a boot in between must not bring the values back.
		err := s.removeFiles(e.State.Files, l)
		if e.State.Phase != Undone {
			err = errors.Join(err, undo(e.State, s.Boot, why, s.Host, s.Kinds, l))
		}
		return err
	})
}

// with opens a plan's journal under the lock.
func (s *Store) with(id string, f func(Entry, log) error) (Entry, error) {
	unlock, err := s.lock(false)
	if err != nil {
		return Entry{}, err
	}
	defer unlock()
	e, err := s.Find(id)
	if err != nil {
		return e, unreadable{err}
	}
	if err := checkFolder(e.Dir); err != nil {
		return e, unreadable{err}
	}
	j, err := journal.Open(e.Dir)
	if err != nil {
		return e, unreadable{err}
	}
	defer func() { _ = j.Close() }()
	s.fill(&e, j.Content())
	err = f(e, s.log(j))
	return s.entry(e.ID), err
}

// unreadable is of a plan whose journal can't be read at all.
type unreadable struct{ error }

func (u unreadable) Unwrap() error { return u.error }

func (s *Store) log(j *journal.Journal) log {
	if s.wrap != nil {
		return s.wrap(j)
	}
	return j
}

func (s *Store) forPlan() map[string]plan.Kind {
	m := map[string]plan.Kind{}
	for name, k := range s.Kinds {
		m[name] = k
	}
	return m
}

package apply

import (
	"errors"
	"fmt"

	"snag/remedies/journal"
	"snag/remedies/knob"
	"snag/remedies/persist"
	"snag/remedies/plan"
)

// Persist writes the files by which a confirmed plan holds after a reboot. files makes
// them from the plan as it was carried out. Either all are there in the end, or none.
func (s *Store) Persist(id string, files func(*plan.Plan) ([]persist.File, error)) (Entry, error) {
	return s.with(id, func(e Entry, l log) error {
		switch {
		case e.Damage != nil:
			return fmt.Errorf("plan %s can't be persisted: what it did is not known for sure: %w", e.ID, e.Damage)
		case e.State.Phase == Unconfirmed:
			return fmt.Errorf("plan %s is not confirmed: snag tune confirm first. What is not known to be good must not outlast a reboot", e.ID)
		case e.State.Phase != Kept:
			return fmt.Errorf("plan %s can't be persisted: it is %s", e.ID, e.State.Phase)
		case e.Plan == nil:
			return fmt.Errorf("plan %s can't be persisted: its file %s/%s can't be read", e.ID, e.Dir, planFile)
		}
		all, err := files(e.Plan)
		if err != nil {
			return err
		}
		for _, f := range all { // all of them before the first is written
			err = errors.Join(err, s.Disk.Check(f))
		}
		if err != nil {
			return fmt.Errorf("nothing was written: %w", err)
		}
		if err := s.writeFiles(all, l); err != nil {
			var begun []File
			if content, e := journal.Read(e.Dir); e == nil {
				state := StateOf(content.Records)
				begun = state.Files
			}
			if e := s.removeFiles(begun, l); e != nil {
				return errors.Join(err, fmt.Errorf("and what was written before could not all be removed: %w; snag tune undo tries again", e))
			}
			return errors.Join(err, errors.New("no file is left of it; the values are kept until a reboot"))
		}
		return nil
	})
}

func (s *Store) writeFiles(all []persist.File, l log) error {
	for _, f := range all {
		// On disk first: whoever comes after a kill must know of the file.
		if err := l.Append(journal.Record{Step: journal.WillPersist, File: f.Path, Sum: f.Sum()}); err != nil {
			return err
		}
		if err := s.Disk.Write(f); err != nil {
			return err
		}
		if err := l.Append(journal.Record{Step: journal.Persisted, File: f.Path, Sum: f.Sum()}); err != nil {
			return err
		}
	}
	return nil
}

// removeFiles takes away what Persist wrote, the last first. A file that another has
// changed is his: it is left and said, once. It goes on where the journal can't be written.
func (s *Store) removeFiles(all []File, l log) error {
	var problems []error
	n := &notes{log: l}
	for i := len(all) - 1; i >= 0; i-- {
		r := journal.Record{Step: journal.Removed, File: all[i].Path}
		if err := s.Disk.Remove(all[i].Path, all[i].Sum); err != nil {
			problems = append(problems, err)
			if !errors.Is(err, persist.ErrChanged) {
				continue // still snag's to remove
			}
			r.Error = err.Error()
		}
		n.add(r)
	}
	return errors.Join(append(problems, n.note())...)
}

// backAfterBoot puts an old value back where the host still runs with the plan's: the
// files that were persisted had set it. Any other value is not of snag's doing, and a
// setting that is gone needs none.
func backAfterBoot(c Made, h knob.Host, kinds map[string]knob.Knob) (now string, err error) {
	k, ok := kinds[c.Target.Kind]
	if !ok {
		return "", fmt.Errorf("this snag knows no %q: %s was %q", c.Target.Kind, c.Target, c.Old)
	}
	now, err = k.Read(h, c.Target)
	switch {
	case errors.Is(err, knob.ErrAbsent):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("it was %q: %w", c.Old, err)
	case !k.Same(c.Target, now, c.New) && (c.Now == "" || !k.Same(c.Target, now, c.Now)):
		return now, nil
	}
	return set(k, h, c.Target, c.Old)
}

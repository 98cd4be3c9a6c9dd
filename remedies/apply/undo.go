package apply

import (
	"errors"
	"fmt"
	"slices"

	"snag/remedies/journal"
	"snag/remedies/knob"
)

// ErrNotNoted is of an undo that the journal does not hold: its disk is full, or
// read-only. The settings are as they were all the same.
var ErrNotNoted = errors.New("that could not be written to the journal: snag tune undo once more, when its disk can be written, settles the plan")

// errAnother is of a setting that another has set since: it is his.
var errAnother = errors.New("it is left so")

// errDoubt is of an old value that may be wrong.
var errDoubt = errors.New(": which of them is right is not known")

// notes writes what an undo did, after it is done: where the journal can't be written,
// the undo goes on all the same. It may be begun again any number of times.
type notes struct {
	log
	err error
}

func (n *notes) add(r journal.Record) {
	if err := n.Append(r); err != nil {
		n.err = err
	}
}

// note is nil, or why not all is in the journal.
func (n *notes) note() error {
	if n.err == nil {
		return nil
	}
	return notNoted{n.err}
}

// notNoted is ErrNotNoted with its reason.
type notNoted struct{ error }

func (n notNoted) Error() string   { return fmt.Sprintf("%v (%v)", ErrNotNoted, n.error) }
func (n notNoted) Unwrap() []error { return []error{ErrNotNoted, n.error} }

// undo takes back all that a journal says was made, the last first, and verifies
// each. What another has changed since is left alone and said. It may be begun again
// after a kill, any number of times: a setting that is as it was is not touched.
func undo(s State, boot, why string, h knob.Host, kinds map[string]knob.Knob, l log) error {
	n := &notes{log: l}
	if s.Why != why || s.Phase != HalfUndone { // a guard that tries again
		n.add(journal.Record{Step: journal.Undoing, Why: why})
	}
	var problems []error
	for _, c := range slices.Backward(s.Changes) {
		if c.Undone {
			continue
		}
		r, err := takeBack(c, s, boot, h, kinds)
		if err != nil {
			problems = append(problems, err)
		}
		if r.Step != journal.NotUndone || r.Error != c.Problem {
			n.add(r)
		}
	}
	if len(problems) == 0 && n.err == nil && !s.Unknown {
		n.add(journal.Record{Step: journal.Undone})
	}
	return errors.Join(append(problems, n.note())...)
}

// takeBack undoes one change, and says what is to be noted of it.
func takeBack(c Made, s State, boot string, h knob.Host, kinds map[string]knob.Knob) (journal.Record, error) {
	now, err := "", error(nil)
	switch {
	case c.Doubt != "":
		err = fmt.Errorf("%s is not touched: %s%w", c.Target, c.Doubt, errDoubt)
	case s.Boot == boot, s.Boot == "": // of a damaged journal it may not be known
		now, err = back(c, h, kinds)
	case s.Persisted:
		now, err = backAfterBoot(c, h, kinds)
	} // else the reboot took it back: settings of a kernel end with it
	r := journal.Record{Step: journal.Undid, Change: c.ID, Now: now}
	switch {
	case errors.Is(err, knob.ErrEnded):
		r.Why = err.Error()
	case err != nil:
		r.Step, r.Error = journal.NotUndone, err.Error()
		return r, fmt.Errorf("change %s is not undone: %w", c.ID, err)
	}
	return r, nil
}

// back puts one old value back and looks whether it is there.
func back(c Made, h knob.Host, kinds map[string]knob.Knob) (now string, err error) {
	k, ok := kinds[c.Target.Kind]
	if !ok {
		return "", fmt.Errorf("this snag knows no %q: %s was %q", c.Target.Kind, c.Target, c.Old)
	}
	if c.Target, err = h.Reach(c.Target, c.Netns); err != nil {
		return "", err
	}
	now, err = k.Read(h, c.Target)
	switch {
	case err != nil:
		return "", fmt.Errorf("it was %q: %w", c.Old, err)
	case k.Same(c.Target, now, c.Old):
		return now, nil // never made, or put back before a kill
	case !k.Same(c.Target, now, c.New) && (c.Now == "" || !k.Same(c.Target, now, c.Now)) &&
		!slices.ContainsFunc(c.Also, func(v string) bool { return k.Same(c.Target, now, v) }):
		return now, fmt.Errorf("another has set %s to %q since (snag set %q, and it was %q before): %w", c.Target, now, c.New, c.Old, errAnother)
	}
	if exact, ok := k.(knob.Exact); ok && c.Exact != "" {
		now, err = restore(exact, k, h, c)
	} else {
		now, err = set(k, h, c.Target, c.Old)
	}
	if err != nil {
		return now, fmt.Errorf("it was %q: %w", c.Old, err)
	}
	return now, nil
}

// restore puts back what the kernel reported before, and looks whether it reports it again.
func restore(exact knob.Exact, k knob.Knob, h knob.Host, c Made) (now string, err error) {
	if err := exact.Restore(h, c.Target, c.Old, c.Exact); err != nil {
		return "", err
	}
	if now, err = k.Read(h, c.Target); err != nil {
		return "", fmt.Errorf("%s was put back and can't be read: %w", c.Target, err)
	}
	if !k.Same(c.Target, now, c.Old) {
		return now, fmt.Errorf("%s was set to %q, and the kernel has %q", c.Target, c.Old, now)
	}
	again, err := exact.Snapshot(h, c.Target)
	if err == nil && !exact.SameSnapshot(again, c.Exact) && c.Target.Name == "" {
		err = fmt.Errorf("%s is back, but not bit by bit: it was %s, and is %s", c.Target, c.Exact, again)
	}
	return now, err
}

// problemsOf are the errors of an undo but that it was not noted.
func problemsOf(err error) (all []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || isNote(err) {
		if err != nil && !isNote(err) {
			all = append(all, err)
		}
		return all
	}
	for _, e := range joined.Unwrap() {
		all = append(all, problemsOf(e)...)
	}
	return all
}

// isNote reports whether an error is the note's own, not one that was joined with it.
func isNote(err error) bool {
	var n notNoted
	return errors.As(err, &n) && err.Error() == n.Error()
}

// mayYetBe reports whether an undo that failed may come to more when it is tried again: not
// where another has the setting, where it is not there, or where its old value is not known.
func mayYetBe(err error) bool {
	for _, e := range problemsOf(err) {
		if !errors.Is(e, errAnother) && !errors.Is(e, knob.ErrAbsent) && !errors.Is(e, errDoubt) && !errors.As(e, &damaged{}) {
			return true
		}
	}
	return errors.Is(err, ErrNotNoted)
}

// OnlyNotNoted reports whether all settings are as before, and only the journal does not
// say so.
func OnlyNotNoted(err error) bool { return errors.Is(err, ErrNotNoted) && len(problemsOf(err)) == 0 }

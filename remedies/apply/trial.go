package apply

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"snag/remedies/journal"
	"snag/remedies/plan"
)

// Switch is a setting that is tried out with either of two values.
type Switch struct {
	ID      string
	Target  plan.Target
	On, Off string
	// With names the switches that only hold together with this one.
	With []string
}

// Trial is settings that are switched to and fro. Nobody can confirm it: whatever
// comes (its end, a signal, kill -9, the deadline), the values that were found are
// put back. All values that it may ever set are in the journal before the first
// write, so that switching needs no record of its own.
type Trial struct {
	store    *Store
	id       string
	switches []Switch // in the order of Ordered
	found    map[string]string
	armed    time.Time // the last time that a guard was
	letGo    func()    // of the lock that shows that this process lives
}

// ErrTrialOver is of a trial that another has ended: the guard at its deadline, or a
// person by snag tune undo.
var ErrTrialOver = errors.New("the trial was ended")

// Try begins a trial. Nothing is changed yet.
func (s *Store) Try(all []Switch, within time.Duration) (*Trial, error) {
	if within < 5*time.Second || within > 24*time.Hour {
		return nil, fmt.Errorf("--within %s: between 5 s and a day", within)
	}
	p, found, err := s.trialPlan(all)
	if err != nil {
		return nil, err
	}
	unlock, err := s.lock(true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := s.free(); err != nil {
		return nil, err
	}
	t := &Trial{store: s, found: found}
	for _, c := range Ordered(p.Changes) {
		i := slices.IndexFunc(all, func(w Switch) bool { return w.ID == c.ID })
		t.switches = append(t.switches, all[i])
	}
	if err := t.begin(p, within); err != nil {
		return nil, fmt.Errorf("nothing was changed: %w", err)
	}
	return t, nil
}

// trialPlan is the trial as a plan, for the record and for its check: each from the
// value that was found to one that it will have.
func (s *Store) trialPlan(all []Switch) (*plan.Plan, map[string]string, error) {
	p := &plan.Plan{Version: plan.Version, Made: plan.At(time.Now()), For: plan.Cause{Text: "a trial: settings are switched to and fro"}}
	found := map[string]string{}
	for _, w := range all {
		k, ok := s.Kinds[w.Target.Kind]
		if !ok {
			return nil, nil, fmt.Errorf("snag changes no %q", w.Target.Kind)
		}
		now, err := k.Read(s.Host, w.Target)
		if err != nil {
			return nil, nil, err
		}
		if k.Same(w.Target, w.On, w.Off) {
			return nil, nil, fmt.Errorf("%s is %q on and off: there is nothing to try", w.Target, w.On)
		}
		if err := k.Valid(w.Target, w.Off); err != nil && w.Off != "" {
			return nil, nil, err
		}
		found[w.ID] = now
		then := w.On
		if k.Same(w.Target, now, w.On) {
			then = w.Off
		}
		p.Changes = append(p.Changes, plan.Change{ID: w.ID, Target: w.Target, Now: now, Then: then, Why: "to see what it does", With: w.With})
	}
	return p, found, s.valid(p)
}

func (t *Trial) begin(p *plan.Plan, within time.Duration) error {
	dir, j, deadline, err := t.store.begin(p, within)
	if err != nil {
		return err
	}
	t.id = filepath.Base(dir)
	defer func() { _ = j.Close() }()
	l := t.store.log(j)
	who := ""
	if t.letGo, err = hold(dir, holderFile); err == nil {
		who, err = t.store.Arm(dir, deadline)
		t.armed = time.Now()
	}
	if err == nil {
		err = l.Append(journal.Record{Step: journal.Armed, By: who})
	}
	if err == nil {
		err = l.Append(journal.Record{Step: journal.Trying})
	}
	for _, w := range t.switches {
		if err != nil {
			break
		}
		r := journal.Record{Step: journal.Will, Change: w.ID, Target: &w.Target, Old: t.found[w.ID], New: w.On, Also: []string{w.Off}}
		if r.Netns, err = t.store.Host.NetnsID(w.Target); err == nil {
			r.Exact, err = snapshot(t.store.Kinds[w.Target.Kind], t.store.Host, w.Target)
		}
		if err == nil {
			err = l.Append(r)
		}
	}
	if err != nil {
		if t.letGo != nil {
			t.letGo()
		}
		return errors.Join(err, l.Append(journal.Record{Step: journal.Undone}))
	}
	return nil
}

// ID is the trial's, as snag tune status shows it.
func (t *Trial) ID() string { return t.id }

// Set switches: those of which on tells true are on, all others off. What it could
// not set it says; End puts everything back.
func (t *Trial) Set(on func(id string) bool) error {
	unlock, err := t.store.lock(false)
	for n := 0; errors.Is(err, ErrLocked) && n < 40; n++ { // a command of tune that looks at plans
		time.Sleep(50 * time.Millisecond)
		unlock, err = t.store.lock(false)
	}
	if err != nil {
		return err
	}
	defer unlock()
	e, err := t.store.Find(t.id)
	switch {
	case err != nil:
		return err
	case e.Damage != nil:
		return e.Damage
	case e.State.Phase != Trying:
		return fmt.Errorf("%w: %s", ErrTrialOver, e.State.Why)
	case t.store.over(e.State, 0):
		return fmt.Errorf("%w: its time is over", ErrTrialOver)
	}
	if err := t.guarded(e); err != nil {
		return err
	}
	for _, w := range t.switches {
		want := w.Off
		if on(w.ID) {
			want = w.On
		}
		if err := t.turn(w, want); err != nil {
			return err
		}
	}
	return nil
}

// guarded has another guard wait where the first one is gone: nothing is switched that
// nobody would put back after a kill.
func (t *Trial) guarded(e Entry) error {
	if e.Guarded() || time.Since(t.armed) < 2*time.Second { // a new one needs a moment
		return nil
	}
	j, err := journal.Open(e.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }()
	who, err := t.store.Arm(e.Dir, e.State.Deadline)
	if err != nil {
		return fmt.Errorf("the guard of the trial is gone: %w", err)
	}
	t.armed = time.Now()
	return t.store.log(j).Append(journal.Record{Step: journal.Armed, By: who})
}

// turn sets one setting, unless another than this trial has set it meanwhile.
func (t *Trial) turn(w Switch, want string) error {
	k := t.store.Kinds[w.Target.Kind]
	now, err := k.Read(t.store.Host, w.Target)
	if err != nil {
		return err
	}
	same := func(v string) bool { return k.Same(w.Target, now, v) }
	switch {
	case same(want):
		return nil
	case !same(w.On) && !same(w.Off) && !same(t.found[w.ID]):
		return fmt.Errorf("another has set %s to %q meanwhile", w.Target, now)
	}
	_, err = set(k, t.store.Host, w.Target, want)
	return err
}

// End puts back what was found, and looks whether it is there.
func (t *Trial) End(why string) (Entry, error) {
	defer t.letGo()
	e, err := t.undo(why)
	if err != nil && !OnlyNotNoted(err) {
		return e, err
	}
	all := []error{err}
	for _, w := range t.switches {
		k := t.store.Kinds[w.Target.Kind]
		now, err := k.Read(t.store.Host, w.Target)
		if err == nil && !k.Same(w.Target, now, t.found[w.ID]) {
			err = fmt.Errorf("%s is %q, and was %q before", w.Target, now, t.found[w.ID])
		}
		all = append(all, err)
	}
	return e, errors.Join(all...)
}

// undo waits for a guard that is at it already, and is content with its work.
func (t *Trial) undo(why string) (e Entry, err error) {
	for range 100 {
		if e, err = t.store.Find(t.id); err != nil || e.State.Phase == Undone {
			return e, err
		}
		e, err = t.store.Undo(t.id, why)
		if !errors.Is(err, ErrLocked) {
			return e, err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return e, err
}

// abandoned reports whether the process of a trial has ended. Of a plan that is no
// trial it never does.
func abandoned(e Entry) bool { return e.State.Phase == Trying && !held(e.Dir, holderFile) }

// Triable says what keeps a setting from being tried out here. It changes nothing.
func (s *Store) Triable(w Switch) error {
	_, _, err := s.trialPlan([]Switch{w})
	return err
}

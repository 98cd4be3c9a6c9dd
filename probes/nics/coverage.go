package nics

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"snag/internal/netns"
	"snag/probes/probe"
	"snag/recording"
)

var measures = []string{"nics.settings", "nics.statistics", "nics.queues", "nics.interrupts", "nics.softirqs"}

// ledger keeps what each measure cost and could not do, and tells the coverage.
type ledger struct {
	env     *probe.Env
	since   recording.Time
	worst   time.Duration
	work    probe.Work
	foreign float64 // CPU time on other threads (netns.Handle.Do), s
	of      map[string]*entry
}

type entry struct {
	good, bad int
	err       error // the last
	cost      float64
	notes     []note
}

type note struct{ why, cure string }

func newLedger(env *probe.Env) *ledger {
	l := &ledger{env: env, of: map[string]*entry{}}
	for _, m := range measures {
		l.of[m] = &entry{}
	}
	return l
}

func (l *ledger) late(d time.Duration) { l.worst = max(l.worst, d) }

// cost is the probe's CPU time so far, s.
func (l *ledger) cost() float64 { return l.work.CPU() + l.foreign }

// run does one measure and books its cost and error.
func (l *ledger) run(measure string, f func(recording.Time) error) {
	e, before := l.of[measure], l.cost()
	err := f(l.env.Now())
	e.cost += l.cost() - before
	if err != nil {
		e.bad++
		e.err = err
		return
	}
	e.good++
}

// inside wraps what runs on another thread.
func (l *ledger) inside(f func() error) func() error {
	return func() error {
		before := probe.ThreadCPU()
		defer func() { l.foreign += probe.ThreadCPU() - before }()
		return f()
	}
}

// note says what a measure left out; a later one of the same cure replaces it.
func (l *ledger) note(measure, why, cure string) {
	e := l.of[measure]
	words := func(s string) string { return strings.Trim(strings.Join(strings.FieldsFunc(s, isDigit), "#"), " ") }
	for i, n := range e.notes {
		if words(n.why) == words(why) {
			e.notes[i] = note{why, cure}
			return
		}
	}
	if len(e.notes) < 4 {
		e.notes = append(e.notes, note{why, cure})
	}
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func (l *ledger) write() {
	whole := recording.Coverage{Probe: name, State: recording.CoverageOK, Since: l.since, Late: l.worst.Seconds(), Cost: l.cost()}
	l.env.Sink.Append(whole)
	for _, m := range measures {
		l.env.Sink.Append(l.of[m].coverage(m, whole))
	}
}

// coverage is the row of a measure, given that of the whole probe.
func (e *entry) coverage(measure string, whole recording.Coverage) recording.Coverage {
	c := whole
	c.Probe, c.Cost = measure, e.cost
	if e.good == 0 && e.bad == 0 {
		c.State, c.Why, c.Since = recording.CoverageFailed, "it never ran", 0
		return c
	}
	var whys, cures []string
	add := func(why, cure string) { whys, cures = append(whys, why), append(cures, cure) }
	if e.bad > 0 {
		state, why, cure := explain(e.err)
		if e.good == 0 {
			c.State, c.Why, c.Cure, c.Since = state, why, cure, 0
			return c
		}
		add(fmt.Sprintf("%d of %d readings failed, the last: %s", e.bad, e.bad+e.good, why), cure)
	}
	for _, n := range e.notes {
		add(n.why, n.cure)
	}
	if len(whys) > 0 {
		c.State, c.Why, c.Cure = recording.CoveragePartial, strings.Join(whys, "; "), joined(cures)
	}
	return c
}

func joined(all []string) string {
	var out []string
	for _, s := range all {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "; ")
}

// explain parts what the host does not have or allow from what broke.
func explain(err error) (state, why, cure string) {
	var u *probe.Unavailable
	switch {
	case errors.As(err, &u):
		return recording.CoverageUnavailable, u.Why, u.Cure
	case errors.Is(err, netns.ErrNotPermitted):
		return recording.CoverageUnavailable, "other network namespaces were not asked: entering them is not permitted", "run as root, or give the binary CAP_SYS_ADMIN"
	case errors.Is(err, fs.ErrNotExist):
		return recording.CoverageUnavailable, err.Error(), "a kernel that has this file"
	case errors.Is(err, fs.ErrPermission):
		return recording.CoverageUnavailable, err.Error(), "run as root"
	}
	return recording.CoverageFailed, err.Error(), ""
}

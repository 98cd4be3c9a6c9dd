package routes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

// measures of this probe, in the order of recording.Measures.
var measures = []string{"routes.table", "routes.neighbours", "routes.rules", "routes.conntrack"}

// meter keeps what was measured, what was left out and what it cost, and tells the
// coverage.
type meter struct {
	env     *probe.Env
	since   recording.Time
	good    map[string]int
	bad     map[string]int
	last    map[string]error
	notes   map[string][]note
	worst   time.Duration
	work    probe.Work
	foreign float64 // CPU seconds spent on other threads (netns.Handle.Do)
}

type note struct{ why, cure string }

func newMeter(env *probe.Env) *meter {
	return &meter{env: env, good: map[string]int{}, bad: map[string]int{}, last: map[string]error{}, notes: map[string][]note{}}
}

func (m *meter) late(late time.Duration) { m.worst = max(m.worst, late) }

// book counts one reading.
func (m *meter) book(name string, err error) {
	if err == nil {
		m.good[name]++
		return
	}
	m.bad[name]++
	m.last[name] = err
}

// mostNotes of one measure: more would not be read.
const mostNotes = 3

// note says what a measure left out; the last of those that differ in their
// numbers only.
func (m *meter) note(name, why, cure string) {
	i := slices.IndexFunc(m.notes[name], func(n note) bool { return n.cure == cure && withoutNumbers(n.why) == withoutNumbers(why) })
	switch {
	case i >= 0:
		m.notes[name][i].why = why
	case len(m.notes[name]) < mostNotes:
		m.notes[name] = append(m.notes[name], note{why, cure})
	}
}

// noteAll says it of every measure: what is told of namespaces.
func (m *meter) noteAll(why, cure string) {
	for _, name := range measures {
		m.note(name, why, cure)
	}
}

func withoutNumbers(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s)
}

// inside wraps what runs on another thread so that its cost is counted.
func (m *meter) inside(f func() error) func() error {
	return func() error {
		before := probe.ThreadCPU()
		err := f()
		m.foreign += probe.ThreadCPU() - before
		return err
	}
}

// cost is the CPU time of the probe so far, seconds.
func (m *meter) cost() float64 { return m.work.CPU() + m.foreign }

func (m *meter) writeCost() {
	labels := recording.Labels{"probe": "routes"}
	m.env.Sink.Sample(m.env.Now(), "snag_probe_cpu_seconds_total", labels, m.cost())
}

func (m *meter) writeCoverage() {
	whole := recording.Coverage{Probe: "routes", State: recording.CoverageOK, Since: m.since, Late: m.worst.Seconds(), Cost: m.cost()}
	m.env.Sink.Append(whole)
	for _, name := range measures {
		m.env.Sink.Append(m.coverage(name, whole))
	}
}

// coverage is the row of one measure, given that of the whole probe. The cost is
// the probe's alone: the measures share each visit.
func (m *meter) coverage(name string, whole recording.Coverage) recording.Coverage {
	c := whole
	c.Probe, c.Cost = name, 0
	err := m.last[name]
	var lack *probe.Unavailable
	switch {
	case m.good[name] == 0 && errors.As(err, &lack):
		c.State, c.Since, c.Why, c.Cure = recording.CoverageUnavailable, 0, lack.Why, lack.Cure
		return c
	case m.good[name] == 0:
		c.State, c.Since, c.Why = recording.CoverageFailed, 0, "it never ran"
		if err != nil {
			c.Why = err.Error()
		}
		return c
	case err != nil:
		c.State = recording.CoveragePartial
		c.Why = fmt.Sprintf("%d of %d readings failed, the last: %v", m.bad[name], m.bad[name]+m.good[name], err)
	}
	for _, n := range m.notes[name] {
		c.State = recording.CoveragePartial
		c.Why = strings.TrimPrefix(c.Why+"; "+n.why, "; ")
		if n.cure != "" && !strings.Contains(c.Cure, n.cure) {
			c.Cure = strings.TrimPrefix(c.Cure+"; "+n.cure, "; ")
		}
	}
	return c
}

package host

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

// measures of this probe, in the order of recording.Measures.
var measures = []string{
	"host.netstat", "host.softnet", "host.sockstat", "host.qdisc", "host.cgroup",
	"host.cpu", "host.pressure", "host.processes", "host.sysctl", "host.links",
	"host.memory", "host.zones", "host.numa", "host.disks", "host.kernel-log", "host.libraries",
}

// meter keeps what each measure cost and could not do, and tells the coverage.
type meter struct {
	env     *probe.Env
	since   recording.Time
	all     map[string]*measure
	worst   time.Duration
	missed  int // ticks that were skipped because one before overran
	work    probe.Work
	foreign float64 // CPU seconds spent on other threads (netns.Handle.Do)
	labels  recording.Labels
}

// measure is one row of coverage in the making.
type measure struct {
	name  string
	good  int
	bad   int
	err   error
	notes []note
	cost  float64
}

type note struct{ why, cure string }

func newMeter(env *probe.Env) *meter {
	m := &meter{env: env, all: map[string]*measure{}, labels: recording.Labels{"probe": "host"}}
	for _, name := range measures {
		m.all[name] = &measure{name: name}
	}
	return m
}

// run does one measure and books its cost and its error. f gets the time at
// which it begins to read.
func (m *meter) run(name string, f func(t recording.Time) error) {
	one := m.all[name]
	before, foreign := probe.ThreadCPU(), m.foreign
	err := f(m.env.Now())
	one.cost += probe.ThreadCPU() - before + m.foreign - foreign
	if err != nil {
		one.bad++
		one.err = err
		return
	}
	one.good++
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

// note says what a measure left out, once.
func (m *meter) note(name, why, cure string) {
	one := m.all[name]
	for i, n := range one.notes {
		if n.cure == cure && sameBut(n.why, why) {
			one.notes[i].why = why
			return
		}
	}
	if len(one.notes) < 4 {
		one.notes = append(one.notes, note{why, cure})
	}
}

// sameBut reports whether two notes differ in their numbers only.
func sameBut(a, b string) bool {
	drop := func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}
	return strings.Map(drop, a) == strings.Map(drop, b)
}

func (m *meter) tick(late time.Duration) {
	m.worst = max(m.worst, late)
	m.missed += int(late / period)
	if late > lateEnough {
		t := m.env.Now()
		m.env.Sink.Append(recording.Event{
			T: t.Add(-late), End: t, Kind: recording.EventObserverLate,
			Subject: recording.Subject{Kind: recording.KindObserver, PID: m.env.SelfPID},
			Attrs:   map[string]string{"probe": "host"},
			Value:   late.Seconds(), Unit: "seconds",
		})
	}
	m.env.Sink.Sample(m.env.Now(), "snag_probe_late_seconds", m.labels, late.Seconds())
}

// cost is the CPU time of the probe so far, seconds.
func (m *meter) cost() float64 { return m.work.CPU() + m.foreign }

func (m *meter) writeCost() {
	m.env.Sink.Sample(m.env.Now(), "snag_probe_cpu_seconds_total", m.labels, m.cost())
}

func (m *meter) writeCoverage() {
	whole := recording.Coverage{
		Probe: "host", State: recording.CoverageOK, Since: m.since,
		Late: m.worst.Seconds(), Cost: m.cost(),
	}
	if m.missed > 0 {
		whole.State, whole.Why = recording.CoveragePartial, fmt.Sprintf("%d seconds were not measured: its ticks ran late", m.missed)
		whole.Cure = "leave snag some CPU, or run it with a higher priority (nice -n -5)"
	}
	m.env.Sink.Append(whole)
	for _, name := range measures {
		m.env.Sink.Append(m.all[name].coverage(whole))
	}
}

// coverage is the row of one measure, given the row of the whole probe.
func (one *measure) coverage(whole recording.Coverage) recording.Coverage {
	c := whole
	c.Probe, c.Cost = one.name, one.cost
	if one.good == 0 {
		c.Since = 0
		c.State, c.Why, c.Cure = recording.CoverageFailed, "it never ran", ""
		if one.err != nil {
			c.State, c.Why, c.Cure = explain(one.err)
		}
		return c
	}
	var whys, cures []string
	if c.Why != "" {
		whys, cures = append(whys, c.Why), append(cures, c.Cure)
	}
	if one.bad > 0 {
		_, why, cure := explain(one.err)
		whys = append(whys, fmt.Sprintf("%d of %d readings failed, the last: %s", one.bad, one.bad+one.good, why))
		cures = append(cures, cure)
	}
	for _, n := range one.notes {
		whys, cures = append(whys, n.why), append(cures, n.cure)
	}
	if len(whys) > 0 {
		c.State = recording.CoveragePartial
	}
	c.Why, c.Cure = joined(whys), joined(cures)
	return c
}

// explain turns an error into a state: what the host does not have or allow is
// unavailable, the rest is a failure.
func explain(err error) (state, why, cure string) {
	var u *probe.Unavailable
	switch {
	case errors.As(err, &u):
		return recording.CoverageUnavailable, u.Why, u.Cure
	case errors.Is(err, fs.ErrNotExist):
		return recording.CoverageUnavailable, err.Error(), "a kernel that has this file"
	case errors.Is(err, fs.ErrPermission):
		return recording.CoverageUnavailable, err.Error(), "run as root"
	}
	return recording.CoverageFailed, err.Error(), ""
}

// joined joins the parts that say something, each once.
func joined(parts []string) string {
	var out []string
	for _, p := range parts {
		if p != "" && (len(out) == 0 || out[len(out)-1] != p) {
			out = append(out, p)
		}
	}
	return strings.Join(out, "; ")
}

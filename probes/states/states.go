// Package states reports what the threads of the watched processes do: some twenty times a
// second each is found running or runnable, asleep in a system call, waiting for a device,
// or stopped. That is enough to say where the time of requests goes that are open for
// tenths of a second, at a cost that does not depend on how much the threads do.
//
// Looks are apart by times that are drawn: a thread that does the same every 50 ms is not
// found in the same place each time.
package states

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"snag/internal/kernel"
	"snag/probes/probe"
	"snag/recording"
)

// Probe is the probe of threads' states.
var Probe = probe.Probe{Name: name, Start: start}

const (
	name = "states"
	// shortest and longest are between two looks: 20 per second on average.
	shortest, longest = 35 * time.Millisecond, 65 * time.Millisecond
	// alwaysTimes as long are they where it looks for days.
	alwaysTimes = 3
	coverEach   = 5 // seconds
	// mostThreads of a process have rows of their own; threads of a larger process are
	// told by what they wait for.
	mostThreads = 64
)

type running struct {
	env    *probe.Env
	cancel context.CancelFunc
	done   sync.WaitGroup
	k      *inKernel

	began   time.Time
	told    time.Time      // when it said last that it goes on
	since   recording.Time // when the looks of the present second began
	begun   recording.Time
	looks   uint64
	asked   int  // how many were watched then
	anybody bool // was watched at some time
	seconds int
	late    time.Duration
	cost    float64
	failed  error
}

func start(ctx context.Context, env *probe.Env) (probe.Running, error) {
	k, err := load(env.Proc, env.Sys)
	if err != nil {
		var lack *kernel.Lack
		if errors.As(err, &lack) {
			return nil, (*probe.Unavailable)(lack)
		}
		return nil, err
	}
	now := env.Now()
	r := &running{env: env, k: k, began: time.Now(), told: time.Now(), since: now, begun: now}
	ctx, r.cancel = context.WithCancel(ctx)
	r.done.Add(1)
	go r.run(ctx)
	return r, nil
}

func (r *running) run(ctx context.Context) {
	defer r.done.Done()
	var work probe.Work
	timer := time.NewTimer(0)
	defer timer.Stop()
	for due := time.Now(); r.failed == nil; {
		select {
		case <-ctx.Done():
			work.Begin()
			defer work.End()
			r.failed = r.second()
			r.cost = work.CPU()
			return
		case <-timer.C:
		}
		r.late = max(r.late, time.Since(due))
		work.Begin()
		r.lookAndReport(&work)
		work.End()
		pause := r.pause()
		due = time.Now().Add(pause)
		timer.Reset(pause)
	}
}

func (r *running) lookAndReport(work *probe.Work) {
	if r.failed = r.look(); r.failed == nil && time.Since(r.began) >= time.Second {
		r.failed = r.second()
	}
	if r.failed == nil && time.Since(r.told) >= time.Second { // by that it is seen that it looks, however its seconds lie
		r.cost, r.told = work.CPU(), time.Now()
		r.report()
	}
}

// Where nobody is watched, it is asked so often whether somebody is by now.
const (
	idlePause   = 200 * time.Millisecond
	alwaysPause = time.Second
)

// pause is until the next look.
func (r *running) pause() time.Duration {
	switch {
	case len(r.k.watched) > 0 && r.env.Continuous:
		return alwaysTimes * (shortest + rand.N(longest-shortest)) //nolint:gosec // not to be guessed by nobody
	case len(r.k.watched) > 0:
		return shortest + rand.N(longest-shortest) //nolint:gosec // not to be guessed by nobody
	case r.env.Continuous:
		return alwaysPause
	}
	return idlePause
}

// look finds each thread of the watched processes in some state.
func (r *running) look() error {
	if n := len(r.env.Watch.PIDs()); n > r.asked && time.Since(r.began) >= soonest { // one more is looked at soon: it has a second of its own
		if err := r.second(); err != nil {
			return err
		}
	}
	if r.looks == 0 { // else who is watched is asked once a second: it costs a read of /proc for each
		pids := r.env.Watch.PIDs()
		r.asked = len(pids)
		if err := r.k.watch(r.env.Proc, pids); err != nil {
			return err
		}
		r.began, r.since = time.Now(), r.env.Now()
		r.anybody = r.anybody || len(r.k.watched) > 0
	}
	r.looks++
	if len(r.k.watched) == 0 { // to walk over all tasks for nobody costs 1 % of a CPU on a host of 400
		return nil
	}
	return r.k.look()
}

// soonest is how long a second is at least that ends as one more process is watched.
const soonest = 200 * time.Millisecond

// second writes what the looks of a second found, and begins the next.
func (r *running) second() error {
	if r.looks == 0 {
		return nil
	}
	found, err := r.k.take()
	if err != nil {
		return err
	}
	for _, row := range rows(found, r.since, r.looks) {
		r.env.Sink.Append(row)
	}
	r.looks = 0
	return nil
}

func (r *running) report() {
	now := r.env.Now()
	labels := recording.Labels{"probe": name}
	r.env.Sink.Sample(now, "snag_probe_cpu_seconds_total", labels, r.cost)
	r.env.Sink.Sample(now, "snag_probe_late_seconds", labels, r.late.Seconds())
	if r.seconds++; r.seconds%coverEach == 0 {
		r.coverage() // for a recording that is cut off
	}
}

// Stop implements probe.Running.
func (r *running) Stop() {
	r.cancel()
	r.done.Wait()
	r.coverage()
	r.k.close()
}

// coverage appends the probe's row. Who is late by less than a look lost nothing.
func (r *running) coverage() {
	c := recording.Coverage{Probe: name, State: recording.CoverageOK, Since: r.begun, Late: r.late.Seconds(), Cost: r.cost, Lost: r.k.lost()}
	switch {
	case r.failed != nil:
		c.State, c.Why = recording.CoverageFailed, r.failed.Error()
	case !r.anybody:
		// Nothing was looked at, so nothing may be cleared by this silence.
		c.State, c.Why, c.Cure = recording.CoverageOff, "no process was watched", "name one: --pid, --unit or --port"
	case c.Lost > 0:
		c.State, c.Why = recording.CoveragePartial, "threads were found in more places than its table has room for"
	}
	r.env.Sink.Append(c)
}

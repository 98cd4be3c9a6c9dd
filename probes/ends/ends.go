// Package ends tells of processes that end: who, of which parent, after how long, by which
// signal or with which status. A service that is killed or crashes, and is started again
// at once, shows in nothing else but in what its clients feel.
package ends

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"snag/internal/kernel"
	"snag/probes/probe"
	"snag/recording"
)

// Probe is the probe of processes that end.
var Probe = probe.Probe{Name: name, Start: start}

const (
	name      = "ends"
	period    = time.Second
	coverEach = 5
)

type running struct {
	env    *probe.Env
	cancel context.CancelFunc
	done   sync.WaitGroup
	k      *inKernel
	since  recording.Time
	ticks  int
	late   time.Duration
	cost   float64
	left   uint64 // ends without a row
	failed error
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
	r := &running{env: env, k: k, since: env.Now()}
	ctx, r.cancel = context.WithCancel(ctx)
	r.done.Add(1)
	go r.run(ctx)
	return r, nil
}

func (r *running) run(ctx context.Context) {
	defer r.done.Done()
	runtime.LockOSThread() // its CPU time is the probe's
	defer runtime.UnlockOSThread()
	began := probe.ThreadCPU()
	look := func() {
		if r.failed == nil {
			r.failed = r.tick()
		}
		r.cost = probe.ThreadCPU() - began
	}
	probe.Every(ctx, period, func(late time.Duration) {
		r.late = max(r.late, late)
		look()
		if r.ticks++; r.ticks%coverEach == 0 {
			r.coverage() // for a recording that is cut off
		}
	})
	look()
}

func (r *running) tick() error {
	all, err := r.k.take()
	if err != nil {
		return err
	}
	out, left := rows(all, r.env.Anchor)
	r.left += left
	for _, row := range out {
		r.env.Sink.Append(row)
	}
	return nil
}

// Stop implements probe.Running.
func (r *running) Stop() {
	r.cancel()
	r.done.Wait()
	r.coverage()
	r.k.close()
}

// coverage appends the probe's row. Who is late lost nothing as long as the table had room.
func (r *running) coverage() {
	c := recording.Coverage{Probe: name, State: recording.CoverageOK, Since: r.since, Late: r.late.Seconds(), Cost: r.cost, Lost: r.k.lost() + r.left}
	switch {
	case r.failed != nil:
		c.State, c.Why = recording.CoverageFailed, r.failed.Error()
	case c.Lost > 0:
		c.State, c.Why = recording.CoveragePartial, fmt.Sprintf("%d ends of processes have no row: at most %d a second have, those by a signal first", c.Lost, mostRows)
	}
	r.env.Sink.Append(c)
}

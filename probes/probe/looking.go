package probe

import (
	"context"
	"sync"
	"time"

	"snag/recording"
)

// Looker is what a probe does that reads once a second what the kernel has counted for it, and
// nothing between.
type Looker interface {
	// Look is called once a second, and a last time at the end; after an error no more.
	Look() error
	// Coverage are the probe's rows, with what it cost so far, s of CPU; failed is the error
	// of a look.
	Coverage(cost float64, failed error) []recording.Coverage
	Close()
}

const coverEach = 5 // looks

type looking struct {
	env    *Env
	looker Looker
	cancel context.CancelFunc
	done   sync.WaitGroup
	since  recording.Time
	late   time.Duration
	cost   float64
	failed error
}

// Looking runs a looker on a thread of its own, whose CPU time is the probe's.
func Looking(ctx context.Context, env *Env, l Looker) Running {
	r := &looking{env: env, looker: l, since: env.Now()}
	ctx, r.cancel = context.WithCancel(ctx)
	r.done.Add(1)
	go r.run(ctx)
	return r
}

func (r *looking) run(ctx context.Context) {
	defer r.done.Done()
	looks := 0
	var work Work
	look := func() {
		if r.failed == nil {
			r.failed = r.looker.Look()
		}
		r.cost = work.CPU()
	}
	Every(ctx, time.Second, work.During(func(late time.Duration) {
		r.late = max(r.late, late)
		look()
		if looks++; looks%coverEach == 0 {
			r.cover() // for a recording that is cut off
		}
	}))
	work.Begin()
	defer work.End()
	look()
}

// Stop implements Running.
func (r *looking) Stop() {
	r.cancel()
	r.done.Wait()
	r.cover()
	r.looker.Close()
}

func (r *looking) cover() {
	for _, c := range r.looker.Coverage(r.cost, r.failed) {
		c.Since, c.Late = r.since, r.late.Seconds()
		r.env.Sink.Append(c)
	}
}

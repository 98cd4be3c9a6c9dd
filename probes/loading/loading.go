// Package loading sends requests to a service while the host is recorded (snag find --load, --eliminate).
package loading

import (
	"context"
	"errors"
	"time"

	"snag/load"
	"snag/load/recorded"
	"snag/probes"
	"snag/probes/probe"
	"snag/recording"
)

// Probe runs a plan from when the other probes have started until they are ended. null is the run at an
// empty server, nil where there was none.
func Probe(plan load.Plan, null *load.Result) *probe.Probe {
	return &probe.Probe{Name: recording.MeasureLoad, Start: func(ctx context.Context, env *probe.Env) (probe.Running, error) {
		return start(ctx, env, plan, null), nil
	}}
}

type running struct {
	cancel context.CancelFunc
	done   chan struct{}
}

func start(ctx context.Context, env *probe.Env, plan load.Plan, null *load.Result) *running {
	ctx, cancel := context.WithCancel(ctx)
	r := &running{cancel: cancel, done: make(chan struct{})}
	watchWhoAnswers(ctx, env, plan.Target)
	to := placeOf(env)
	go func() {
		defer close(r.done)
		if _, err := to.Record(ctx, plan, null); err != nil && !errors.Is(err, context.Canceled) {
			env.Notice("the load failed: " + err.Error())
		}
	}()
	return r
}

// placeOf is where a probe's own requests are written.
func placeOf(env *probe.Env) recorded.Place {
	return recorded.Place{Sink: env.Sink, Netns: env.Netns, Clock: func(t time.Time) recording.Time { return env.Now().Add(-time.Since(t)) }}
}

// Stop ends the load. Its last answers are awaited for two seconds at the most.
func (r *running) Stop() {
	r.cancel()
	<-r.done
}

// watchWhoAnswers has the processes that listen at the target looked at from the start on, not only once
// their answers are seen to be late.
func watchWhoAnswers(ctx context.Context, env *probe.Env, to load.Target) {
	if here, err := to.Here(ctx); err != nil || !here {
		return
	}
	at, err := probes.Resolve(env.Proc, env.Netns, recording.Target{Port: to.Port()})
	if err != nil {
		return // nobody listens, which the load says itself
	}
	for _, pid := range at.PIDs {
		env.Watch.Add(pid, "the load asks it")
	}
}

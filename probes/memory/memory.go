// Package memory tells when threads had to reclaim or compact memory themselves before
// they got some: how often, for how long, and each time of a millisecond and more as an
// event, so that it can be laid beside what was late. It costs nothing while there is
// memory.
package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"snag/internal/kernel"
	"snag/probes/probe"
	"snag/recording"
)

// Probe is the probe of waits for memory.
var Probe = probe.Probe{Name: name, Start: start}

const (
	name       = "memory"
	period     = time.Second
	coverEach  = 5
	mostEvents = 100 // a second, the longest
)

// kindNames are the label kind of the samples.
var kindNames = [kinds]string{"reclaim", "group-reclaim", "compaction"}

type running struct {
	env    *probe.Env
	cancel context.CancelFunc
	done   sync.WaitGroup
	k      *inKernel
	since  recording.Time
	ticks  int
	late   time.Duration
	cost   float64
	left   uint64 // intervals without an event
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

// Stop implements probe.Running.
func (r *running) Stop() {
	r.cancel()
	r.done.Wait()
	r.coverage()
	r.k.close()
}

func (r *running) tick() error {
	old, err := r.k.flip()
	if err != nil {
		return err
	}
	var all []stall
	if err := kernel.Drain(old, name, func(k *kernelStallKey, v *kernelStallValue) { all = append(all, stall{*k, *v}) }); err != nil {
		return err
	}
	sums, err := r.k.sums()
	if err != nil {
		return err
	}
	now := r.env.Now()
	for kind, s := range sums {
		labels := recording.Labels{"kind": kindNames[kind]}
		r.env.Sink.Sample(now, "snag_memory_stalls_total", labels, float64(s.N))
		r.env.Sink.Sample(now, "snag_memory_stall_seconds_total", labels, float64(s.Ns)/1e9)
	}
	events, left := longest(all, mostEvents)
	r.left += uint64(left)
	for _, s := range events {
		r.env.Sink.Append(s.event(r.env.Anchor, r.k.results))
	}
	return nil
}

// stall is one time in which a thread reclaimed or compacted.
type stall struct {
	key   kernelStallKey
	value kernelStallValue
}

// longest are the most that took longest, by when they began, and how many more there
// were.
func longest(all []stall, most int) (out []stall, left int) {
	slices.SortFunc(all, func(a, b stall) int {
		return cmp.Or(cmp.Compare(b.value.End-b.key.Begin, a.value.End-a.key.Begin), cmp.Compare(a.key.Begin, b.key.Begin))
	})
	if len(all) > most {
		all, left = all[:most], len(all)-most
	}
	slices.SortFunc(all, func(a, b stall) int { return cmp.Compare(a.key.Begin, b.key.Begin) })
	return all, left
}

// event is the stall's. results are the names of enum compact_result.
func (s stall) event(a recording.Anchor, results map[uint64]string) recording.Event {
	e := recording.Event{
		T: a.FromMonotonic(int64(s.key.Begin)), End: a.FromMonotonic(int64(s.value.End)), Kind: recording.EventReclaim,
		Subject: recording.Subject{Kind: recording.KindThread, PID: int(s.value.Tgid), TID: int(s.key.Tid), Comm: kernel.Text(s.value.Comm[:])},
		Value:   float64(s.value.End-s.key.Begin) / 1e9, Unit: "s", Attrs: map[string]string{},
	}
	if s.value.Order >= 0 {
		e.Attrs["order"] = fmt.Sprint(s.value.Order)
	}
	switch s.key.Kind {
	case groupReclaim:
		e.Attrs["limit"] = "control group"
	case compaction:
		e.Kind = recording.EventCompaction
		if s.value.Status >= 0 {
			name := results[uint64(s.value.Status)]
			if name == "" {
				name = fmt.Sprint(s.value.Status)
			}
			e.Attrs["status"] = strings.ToLower(strings.TrimPrefix(name, "COMPACT_"))
		}
	}
	return e
}

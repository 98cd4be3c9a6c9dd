// Package memory reports when threads had to reclaim or compact memory themselves before
// they got some: how often, for how long, and each time of a millisecond and more as an
// event, so that it can be laid beside what was late. It costs nothing while there is
// memory.
package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"snag/internal/kernel"
	"snag/internal/sorting"
	"snag/probes/probe"
	"snag/recording"
)

// Probe is the probe of waits for memory.
var Probe = probe.Probe{Name: name, Start: start}

const (
	name       = "memory"
	mostEvents = 100 // per second, the longest
)

// kindNames are the label kind of the samples.
var kindNames = [kinds]string{"reclaim", "group-reclaim", "compaction"}

type running struct {
	env  *probe.Env
	k    *inKernel
	left uint64 // intervals without an event
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
	return probe.Looking(ctx, env, &running{env: env, k: k}), nil
}

// Close implements probe.Looker.
func (r *running) Close() { r.k.close() }

// Look implements probe.Looker.
func (r *running) Look() error {
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
	sorting.By(all, func(a, b stall) int {
		return cmp.Or(cmp.Compare(b.value.End-b.key.Begin, a.value.End-a.key.Begin), cmp.Compare(a.key.Begin, b.key.Begin))
	})
	if len(all) > most {
		all, left = all[:most], len(all)-most
	}
	sorting.By(all, func(a, b stall) int { return cmp.Compare(a.key.Begin, b.key.Begin) })
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

// Package ends tells of processes that end: who, of which parent, after how long, by which
// signal or with which status. A service that is killed or crashes, and is started again
// at once, shows in nothing else but in what its clients feel.
package ends

import (
	"context"
	"errors"
	"fmt"

	"snag/internal/kernel"
	"snag/probes/probe"
	"snag/recording"
)

// Probe is the probe of processes that end.
var Probe = probe.Probe{Name: name, Start: start}

const name = "ends"

type running struct {
	env  *probe.Env
	k    *inKernel
	left uint64 // ends without a row
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

// Look implements probe.Looker.
func (r *running) Look() error {
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

// Close implements probe.Looker.
func (r *running) Close() { r.k.close() }

// Coverage implements probe.Looker. Who is late lost nothing as long as the table had room.
func (r *running) Coverage(cost float64, failed error) []recording.Coverage {
	c := recording.Coverage{Probe: name, State: recording.CoverageOK, Cost: cost, Lost: r.k.lost() + r.left}
	switch {
	case failed != nil:
		c.State, c.Why = recording.CoverageFailed, failed.Error()
	case c.Lost > 0:
		c.State, c.Why = recording.CoveragePartial, fmt.Sprintf("%d ends of processes have no row: at most %d per second have, those by a signal first", c.Lost, mostRows)
	}
	return []recording.Coverage{c}
}

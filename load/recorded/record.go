package recorded

import (
	"context"
	"errors"
	"time"

	"snag/load"
	"snag/recording"
)

// Place is where a run is written: a sink, the recording's clock, and the network namespace of this process.
type Place struct {
	Sink  recording.Sink
	Clock func(time.Time) recording.Time
	Netns uint64
}

// waiting seconds are kept while the sink takes them: the load's thread waits for nobody.
const waiting = 1024

// Record runs a plan and writes its seconds as they end, and the whole of it after that. null is the run
// at an empty server, nil where there was none.
func (p Place) Record(ctx context.Context, plan load.Plan, null *load.Result) (*load.Result, error) {
	p.Sink.Append(recording.Coverage{Probe: recording.MeasureLoad, State: recording.CoveragePartial, Why: "the recording ends before the load does"})
	seconds, written := make(chan recording.LoadSecond, waiting), make(chan struct{})
	go func() {
		defer close(written)
		for s := range seconds {
			p.Sink.Append(s)
		}
	}()
	plan.Each = func(began time.Time, s load.Second) { seconds <- Second(s, plan.Target.Name, p.Clock(began)) }
	r, err := load.Run(ctx, plan)
	close(seconds)
	<-written
	if err == nil {
		p.Sink.Append(Total(r, null, p.Clock(r.Began), p.Netns))
	}
	p.Sink.Append(Coverage(r, err, p.Clock))
	return r, err
}

// Coverage says what came of a run.
func Coverage(r *load.Result, err error, clock func(time.Time) recording.Time) recording.Coverage {
	c := recording.Coverage{Probe: recording.MeasureLoad, State: recording.CoverageOK}
	switch {
	case errors.Is(err, context.Canceled):
		c.State, c.Why = recording.CoverageFailed, "the recording ended before the load had its connections"
		return c
	case err != nil:
		c.State, c.Why, c.Cure = recording.CoverageFailed, err.Error(), "a service that answers at this address: snag load TARGET shows it without a recording"
		return c
	}
	c.Since, c.Cost = clock(r.Began), r.CPU
	if why := r.Honest(); why != "" {
		c.State, c.Why = recording.CoveragePartial, "its figures are not the service's: "+why
	}
	return c
}

package streams

import (
	"context"
	"sync"

	"snag/probes/probe"
	"snag/probes/streams/ingest"
	"snag/probes/streams/watch"
	"snag/recording"
)

// Reading is the probe of a host whose streams a watch reads already: what the watch
// measures goes into the recording as well, and nothing is read twice. It stands in
// Probe's place (probes.Plan.Reading).
// The watch has to compare streams (watch.Options.Compare): over which connections servers
// of this host get them is looked at meanwhile, unless captured connections are watched too.
func Reading(w *watch.Watcher) *probe.Probe {
	return &probe.Probe{Name: name, Start: func(ctx context.Context, env *probe.Env) (probe.Running, error) {
		b := &beside{sink: env.Sink, w: w, record: w.RecordTo(env.Sink, env.Anchor), since: env.Now()}
		ctx, b.cancel = context.WithCancel(ctx)
		b.senders.Go(func() { ingest.New(env, w).Run(ctx) })
		return b, nil
	}}
}

type beside struct {
	sink    recording.Sink
	w       *watch.Watcher
	record  *watch.Record
	since   recording.Time
	cancel  context.CancelFunc
	senders sync.WaitGroup
}

// Stop ends the rows, and says what was measured since the recording began.
func (b *beside) Stop() {
	b.cancel()
	b.senders.Wait()
	b.record.Stop()
	for _, c := range Coverage(b.w) {
		if c.State != recording.CoverageOff {
			c.Since, c.Late = b.since, b.record.Late().Seconds()
		}
		b.sink.Append(c)
	}
}

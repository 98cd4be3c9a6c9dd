package streams

import (
	"context"

	"snag/probes/probe"
	"snag/probes/streams/watch"
	"snag/recording"
)

// Reading is the probe of a host whose streams a watch reads already: what the watch
// measures goes into the recording as well, and nothing is read twice. It stands in
// Probe's place (probes.Plan.Reading).
func Reading(w *watch.Watcher) *probe.Probe {
	return &probe.Probe{Name: name, Start: func(_ context.Context, env *probe.Env) (probe.Running, error) {
		return &beside{env.Sink, w, w.RecordTo(env.Sink, env.Anchor), env.Now()}, nil
	}}
}

type beside struct {
	sink   recording.Sink
	w      *watch.Watcher
	record *watch.Record
	since  recording.Time
}

// Stop ends the rows, and says what was measured since the recording began.
func (b *beside) Stop() {
	b.record.Stop()
	for _, c := range Coverage(b.w) {
		if c.State != recording.CoverageOff {
			c.Since, c.Late = b.since, b.record.Late().Seconds()
		}
		b.sink.Append(c)
	}
}

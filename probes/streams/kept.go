package streams

import (
	"context"
	"sync"
	"time"

	"snag/probes/probe"
	"snag/probes/streams/files"
	"snag/probes/streams/ingest"
	"snag/probes/streams/watch"
	"snag/recording"
)

// Kept is Reading for a ring of pieces (snag record): each piece has the streams that are watched, also
// those that give nothing, and what of them goes on. The watch lives longer than the recording, which
// begins anew when the clock is set. entries are the streams that were asked for.
func Kept(w *watch.Watcher, entries []watch.Entry) *probe.Probe {
	return &probe.Probe{Name: name, Start: func(ctx context.Context, env *probe.Env) (probe.Running, error) {
		k := &kept{env: env, w: w, since: env.Now(), record: w.RecordToRing(env.Sink, env.Anchor)}
		env.Round.Next(&k.round)
		ctx, k.cancel = context.WithCancel(ctx)
		senders := ingest.New(env, w)
		written := files.New(env, segmented(entries))
		k.done.Go(func() { senders.Run(ctx) })
		k.done.Go(func() { written.Run(ctx) })
		k.done.Go(func() { probe.Every(ctx, time.Second, func(time.Duration) { k.second() }) })
		return k, nil
	}}
}

type kept struct {
	env    *probe.Env
	w      *watch.Watcher
	record *watch.Record
	since  recording.Time
	round  uint64
	n      int // seconds
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// second writes what a new piece needs, and the coverage every few seconds.
func (k *kept) second() {
	k.env.Sink.Sample(k.env.Now(), "snag_probe_late_seconds", recording.Labels{"probe": name}, k.record.Lately().Seconds())
	if k.env.Round.Next(&k.round) {
		k.record.Restate()
	}
	if k.n++; k.n%int(coverEvery/time.Second) == 1 {
		k.cover()
	}
}

func (k *kept) cover() {
	left := k.w.Snapshot().Left
	for _, c := range Coverage(k.w) {
		c = cutOff(c, left, "are asked for")
		if c.State != recording.CoverageOff {
			c.Since, c.Late = k.since, k.record.Late().Seconds()
		}
		k.env.Sink.Append(c)
	}
}

// Stop ends the rows, and says what was measured since the recording began.
func (k *kept) Stop() {
	k.cancel()
	k.done.Wait()
	k.record.Stop()
	k.cover()
}

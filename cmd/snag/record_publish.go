package main

import (
	"context"
	"net"
	"slices"
	"time"

	"snag/fleet/remotewrite"
	"snag/recorder"
	"snag/recording"
)

// publish has what the recorder measures served and sent, as the flags say.
func (f *recordFlags) publish(ctx context.Context, plan *recorder.Plan, tell *reporter) error {
	plan.Health = &recorder.Health{}
	behind := newForwarding(tell.note)
	of := func() []remotewrite.Measured {
		now := plan.Health.Now()
		return slices.Concat(asSeries(recorderMetrics(now, f.counted())), hostSeries(now), behind.series(time.Now()))
	}
	var sinks fanOut
	for _, w := range []*writeFlags{&f.write, &f.influx} {
		if err := w.check(f.ring, of, tell.note); err != nil {
			return err
		}
		if w.sender != nil {
			sinks = append(sinks, w.sender)
		}
	}
	if err := f.sending.check(f.ring, f.quiet, plan.Health, tell.note); err != nil {
		return err
	}
	tell.otlp = newSender(&f.otlp, plan.Health, tell.note)
	if f.listen != "" {
		scrape := remotewrite.NewScrape(remotewrite.DefaultSeries)
		sinks = append(sinks, scrape)
		metrics := healthMetrics{h: plan.Health, more: func() []measured { return append(counted(tell.otlp), f.counted()...) }, series: func() []remotewrite.Measured {
			return slices.Concat(hostSeries(plan.Health.Now()), behind.series(time.Now()), scrape.Now(recording.Time(time.Now().UnixNano())))
		}}
		if err := serveHealth(ctx, f.listen, metrics, tell.note); err != nil {
			return err
		}
	}
	if len(sinks) > 0 {
		plan.Also = sinks
	}
	if tell.otlp != nil {
		tell.endOTLP = tell.otlp.Start()
	}
	return nil
}

// counted are the counters of all senders.
func (f *recordFlags) counted() []measured {
	return slices.Concat(f.write.counted(), f.influx.counted(), f.sending.counted())
}

// hostSeries are the incident that goes on and the addresses of the host: what snag find --fleet follows.
func hostSeries(now recorder.Status) []remotewrite.Measured {
	return append(incidentSeries(now.Incident), addressSeries(net.InterfaceAddrs)...)
}

// fanOut gives each sample and row to several.
type fanOut []recording.Sink

// Sample implements recording.Sink.
func (s fanOut) Sample(at recording.Time, name string, l recording.Labels, v float64) {
	for _, to := range s {
		to.Sample(at, name, l, v)
	}
}

// Append implements recording.Sink.
func (s fanOut) Append(row recording.Row) {
	for _, to := range s {
		to.Append(row)
	}
}

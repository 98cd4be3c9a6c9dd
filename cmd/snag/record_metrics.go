package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"snag/fleet/remotewrite"
	"snag/internal/web"
	"snag/recorder"
	"snag/recording"
)

// serveHealth serves Prometheus metrics of a recorder until ctx ends.
func serveHealth(ctx context.Context, addr string, of healthMetrics, note func(string)) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("serve metrics at %s: %w (write as :9848 or 127.0.0.1:9848; another program may have the port)", addr, err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(of, collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second}))
	go func() {
		if err := web.Serve(ctx, l, nil, mux); err != nil {
			note(fmt.Sprintf("serve metrics: %v", err))
		}
	}()
	return nil
}

// healthMetrics is an unchecked collector, as its probes and parties change.
type healthMetrics struct {
	h    *recorder.Health
	more func() []measured // nil: none
	// series are those that remote write would send too; nil: none.
	series func() []remotewrite.Measured
}

// Describe describes nothing, which makes it an unchecked collector.
func (healthMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect sends the current status.
func (m healthMetrics) Collect(out chan<- prometheus.Metric) {
	var more []measured
	if m.more != nil {
		more = m.more()
	}
	for _, v := range recorderMetrics(m.h.Now(), more) {
		var labels prometheus.Labels
		if v.label != "" {
			labels = prometheus.Labels{v.label: v.of}
		}
		kind := prometheus.GaugeValue
		if v.counter {
			kind = prometheus.CounterValue
		}
		if one, err := prometheus.NewConstMetric(prometheus.NewDesc(v.name, v.help, nil, labels), kind, v.value); err == nil {
			out <- one
		}
	}
	if m.series != nil {
		collectSeries(m.series(), out)
	}
}

// measured is one value that a recorder publishes, over /metrics and --otlp.
type measured struct {
	name, help string
	counter    bool
	value      float64
	label, of  string // the one label and its value; "": none
}

// mostParties bounds the series of snag_party_hurt.
const mostParties = 20

// recorderMetrics are the metrics of a recorder with this status, and more.
func recorderMetrics(f recorder.Status, more []measured) []measured {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	all := []measured{
		{name: "snag_record_up", help: "1 while recording; 0 while paused because the disk is full or read-only.", value: flag(f.Recording)},
		{name: "snag_record_live_bytes", help: "Memory that the recorder had in use when its collector last ran.", value: float64(live[0].Value.Uint64())},
		{name: "snag_ring_bytes", help: "Size of the ring's pieces.", value: float64(f.Size)},
		{name: "snag_incidents_total", help: "Incidents that began since the recorder started.", counter: true, value: float64(f.Incidents)},
		{name: "snag_judgements_total", help: "Judgements of the recording since the recorder started.", counter: true, value: float64(f.Judgements)},
		{name: "snag_verdict_hurt", help: "1 while an incident lasts: clients or streams are affected.", value: flag(f.Incident.ID != 0)},
	}
	if !f.Started.IsZero() {
		all = append(all, measured{name: "snag_record_start_timestamp_seconds", help: "When the recorder was started.", value: float64(f.Started.UnixMicro()) / 1e6})
	}
	if !f.Oldest.IsZero() {
		all = append(all, measured{name: "snag_ring_oldest_timestamp_seconds", help: "Start of the oldest piece of the ring.", value: float64(f.Oldest.Unix())})
	}
	all = append(all, partyMetrics(f)...)
	for name, c := range f.Probes {
		measures := c.State == recording.CoverageOK || c.State == recording.CoveragePartial
		all = append(all,
			measured{name: "snag_probe_up", help: "1 if the probe measures, even partially; 0 if it cannot or was not needed.", value: flag(measures), label: "probe", of: name},
			measured{name: "snag_probe_lost_events_total", help: "Events that the probe could not record.", counter: true, value: float64(c.Lost), label: "probe", of: name})
	}
	return append(all, more...)
}

// partyMetrics are of who is affected, each once.
func partyMetrics(f recorder.Status) (out []measured) {
	parties := slices.Clone(f.Known)
	for _, s := range f.Incident.Symptoms {
		parties = append(parties, s.Subject)
	}
	sent := map[string]bool{}
	for _, party := range parties {
		if !sent[party] && len(sent) < mostParties {
			sent[party] = true
			out = append(out, measured{name: "snag_party_hurt", help: "1 for each party that the current incident affects, and for each stream that was still wrong when its incident ended.", value: 1, label: "party", of: party})
		}
	}
	return out
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

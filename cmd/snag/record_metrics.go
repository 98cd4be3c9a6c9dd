package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"snag/recorder"
	"snag/recording"
)

// serveHealth serves Prometheus metrics of a recorder until ctx ends.
func serveHealth(ctx context.Context, addr string, h *recorder.Health, note func(string)) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("serve metrics at %s: %w (write as :9848 or 127.0.0.1:9848; another program may have the port)", addr, err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(healthMetrics{h}, collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
			note(fmt.Sprintf("serve metrics: %v", err))
		}
	}()
	return nil
}

// healthMetrics is an unchecked collector, as its probes and parties change.
type healthMetrics struct{ h *recorder.Health }

// Describe describes nothing, which makes it an unchecked collector.
func (healthMetrics) Describe(chan<- *prometheus.Desc) {}

// mostParties bounds the series of snag_party_hurt.
const mostParties = 20

// Collect sends the current status.
func (m healthMetrics) Collect(out chan<- prometheus.Metric) {
	send := func(name, help string, kind prometheus.ValueType, v float64, labels prometheus.Labels) {
		if one, err := prometheus.NewConstMetric(prometheus.NewDesc(name, help, nil, labels), kind, v); err == nil {
			out <- one
		}
	}
	f := m.h.Now()
	send("snag_record_up", "1 while recording; 0 while paused because the disk is full.", prometheus.GaugeValue, flag(f.Recording), nil)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	send("snag_record_live_bytes", "Memory that the recorder had in use when its collector last ran.", prometheus.GaugeValue, float64(live[0].Value.Uint64()), nil)
	send("snag_ring_bytes", "Size of the ring's pieces.", prometheus.GaugeValue, float64(f.Size), nil)
	if !f.Oldest.IsZero() {
		send("snag_ring_oldest_timestamp_seconds", "Start of the oldest piece of the ring.", prometheus.GaugeValue, float64(f.Oldest.Unix()), nil)
	}
	send("snag_incidents_total", "Incidents that began since the recorder started.", prometheus.CounterValue, float64(f.Incidents), nil)
	send("snag_judgements_total", "Judgements of the recording since the recorder started.", prometheus.CounterValue, float64(f.Judgements), nil)
	send("snag_verdict_hurt", "1 while an incident lasts: clients or streams are affected.", prometheus.GaugeValue, flag(f.Incident.ID != 0), nil)
	parties := slices.Clone(f.Known)
	for _, s := range f.Incident.Symptoms {
		parties = append(parties, s.Subject)
	}
	sent := map[string]bool{}
	for _, party := range parties {
		if !sent[party] && len(sent) < mostParties {
			sent[party] = true
			send("snag_party_hurt", "1 for each party that the current incident affects, and for each stream that was still wrong when its incident ended.", prometheus.GaugeValue, 1, prometheus.Labels{"party": party})
		}
	}
	for name, c := range f.Probes {
		l := prometheus.Labels{"probe": name}
		send("snag_probe_up", "1 if the probe measures, even partially; 0 if it cannot or was not needed.", prometheus.GaugeValue, flag(c.State == recording.CoverageOK || c.State == recording.CoveragePartial), l)
		send("snag_probe_lost_events_total", "Events that the probe could not record.", prometheus.CounterValue, float64(c.Lost), l)
	}
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

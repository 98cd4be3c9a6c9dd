package main

import (
	"strings"
	"time"

	"snag/internal/otlp"
	"snag/recorder"
)

const (
	metricsEvery = 30 * time.Second
	otlpLast     = 5 * time.Second // for what is left when the recorder ends
	otlpTotal    = 5 * time.Minute // how long log records are tried again
)

// newSender is what sends a recorder's incidents and metrics; nil without --otlp.
func newSender(f *otlpFlags, h *recorder.Health, note func(string)) *otlp.Sender {
	if f.client == nil {
		return nil
	}
	f.client.Total = otlpTotal
	s := &otlp.Sender{Client: f.client, Resource: thisHost(), Every: metricsEvery, Note: note}
	s.Snapshot = func() []otlp.Metric { return otlpMetrics(recorderMetrics(h.Now(), counted(s))) }
	return s
}

// counted are the counters of what a sender lost; nil without one.
func counted(s *otlp.Sender) []measured {
	if s == nil {
		return nil
	}
	c := s.Counts()
	return []measured{
		{name: "snag_otlp_failed_requests_total", help: "Requests of --otlp that were abandoned or partly refused.", counter: true, value: float64(c.Failed)},
		{name: "snag_otlp_dropped_records_total", help: "Log records of --otlp that no collector has.", counter: true, value: float64(c.Dropped)},
	}
}

// otlpMetrics has the names that /metrics has, so that one dashboard reads both.
func otlpMetrics(all []measured) (out []otlp.Metric) {
	for _, m := range all {
		one := otlp.Metric{Name: m.name, Help: m.help, Counter: m.counter, Value: m.value, Unit: unitOf(m.name)}
		if m.label != "" {
			one.Attrs = []otlp.Attr{otlp.Str(m.label, m.of)}
		}
		out = append(out, one)
	}
	return out
}

// unitOf is the unit of a metric in UCUM, by its name. A flag has none: with "1" a collector would call it a ratio.
func unitOf(name string) string {
	switch {
	case strings.HasSuffix(name, "_bytes"):
		return "By"
	case strings.HasSuffix(name, "_seconds"):
		return "s"
	}
	return ""
}

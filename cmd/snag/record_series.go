package main

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"snag/fleet/remotewrite"
	"snag/recording"
)

const bucketSuffix = "_bucket"

// collectSeries sends what remote write would send of these series, for a scrape. What a registry takes only
// once is sent once, so that one series too many does not end the whole scrape.
func collectSeries(all []remotewrite.Measured, out chan<- prometheus.Metric) {
	sent := map[string]bool{}
	for _, m := range all {
		key := m.Name + keyOf(m.Labels)
		if sent[key] || strings.HasSuffix(m.Name, bucketSuffix) {
			continue
		}
		sent[key] = true
		kind := prometheus.GaugeValue
		if strings.HasSuffix(m.Name, "_total") {
			kind = prometheus.CounterValue
		}
		desc := prometheus.NewDesc(m.Name, helpOf(m.Name), nil, prometheus.Labels(m.Labels))
		if one, err := prometheus.NewConstMetric(desc, kind, m.Value); err == nil {
			out <- one
		}
	}
	collectHistograms(all, out)
}

// collectHistograms makes one metric of the buckets of each service.
func collectHistograms(all []remotewrite.Measured, out chan<- prometheus.Metric) {
	type histogram struct {
		name    string
		labels  recording.Labels
		buckets map[float64]uint64
		count   uint64
	}
	found, sums := map[string]*histogram{}, map[string]float64{}
	for _, m := range all {
		base, is := strings.CutSuffix(m.Name, bucketSuffix)
		if !is {
			sums[strings.TrimSuffix(m.Name, "s_total")+keyOf(m.Labels)] = m.Value
			continue
		}
		labels := maps.Clone(m.Labels)
		delete(labels, "le")
		key := base + keyOf(labels)
		h := found[key]
		if h == nil {
			h = &histogram{name: base, labels: labels, buckets: map[float64]uint64{}}
			found[key] = h
		}
		le, err := strconv.ParseFloat(m.Labels["le"], 64)
		switch {
		case err != nil:
		case m.Labels["le"] == "+Inf":
			h.count = uint64(m.Value)
		default:
			h.buckets[le] = uint64(m.Value)
		}
	}
	for _, h := range found {
		desc := prometheus.NewDesc(h.name, helpOf(h.name), nil, prometheus.Labels(h.labels))
		sum := sums[strings.TrimSuffix(h.name, "s")+keyOf(h.labels)]
		if one, err := prometheus.NewConstHistogram(desc, h.count, sum, h.buckets); err == nil {
			out <- one
		}
	}
}

func keyOf(l recording.Labels) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(l)) {
		b.WriteString("\x00" + name + "\x00" + l[name])
	}
	return b.String()
}

// helpOf is what a series is. Those of a recording have one text: docs/recording.md has them.
func helpOf(name string) string {
	return cmp.Or(seriesHelp[name], "A series of the recording (docs/recording.md).")
}

var seriesHelp = map[string]string{
	"snag_service_answers_total":             "Answers of a service.",
	"snag_service_answer_seconds":            "How long answers of a service took, from the whole request.",
	"snag_service_answer_seconds_total":      "The time of all answers of a service.",
	"snag_service_unread_seconds_total":      "How long requests waited until the process read them.",
	"snag_service_failed_answers_total":      "Answers of a service that were errors.",
	"snag_service_cut_requests_total":        "Requests to a service whose connection ended before the answer.",
	"snag_service_open_requests":             "Requests to a service that have no answer yet.",
	"snag_service_oldest_request_seconds":    "How long the oldest open request to a service waits.",
	"snag_dependency_answers_total":          "Answers of a server that a process of this host asks.",
	"snag_dependency_answer_seconds_total":   "The time of all answers of a server that a process asks.",
	"snag_dependency_failed_answers_total":   "Answers of a server that a process asks that were errors.",
	"snag_dependency_cut_requests_total":     "Requests of a process whose connection ended before the answer.",
	"snag_dependency_open_requests":          "Requests of a process that have no answer yet.",
	"snag_dependency_oldest_request_seconds": "How long the oldest open request of a process waits.",
	"snag_answers_left_out_total":            "Answers of services and dependencies that are not in these series, as there are too many.",
	"snag_incident_begin_timestamp_seconds":  "Start of the incident that goes on.",
	"snag_incident_culprit":                  "A culprit of the incident that goes on; its value is its place in the verdict.",
	"snag_incident_symptom":                  "1 for each symptom of the incident that goes on.",
	"snag_host_address":                      "1 for each address of this host.",
}

package watch

import (
	"fmt"
	"slices"
	"strings"

	"snag/recording"
)

// MetricLabels are the keys of streams' labels that series have as labels: each more
// makes every series longer, and one whose values change makes new ones.
type MetricLabels []string

// ParseMetricLabels reads the keys. Prometheus' labels have no dots and dashes: two keys
// that would become one label there are refused.
func ParseMetricLabels(keys []string) (MetricLabels, error) {
	var out MetricLabels
	for _, key := range keys {
		if err := CheckLabelKey(key); err != nil {
			return nil, err
		}
		if slices.Contains(out, key) {
			continue
		}
		if at := slices.IndexFunc(out, func(k string) bool { return metricLabel(k) == metricLabel(key) }); at >= 0 {
			return nil, fmt.Errorf("%s and %s would both be the label %s: give one of them", out[at], key, metricLabel(key))
		}
		out = append(out, key)
	}
	if len(out) > maxLabels {
		return nil, fmt.Errorf("%d keys are more than %d", len(out), maxLabels)
	}
	return out, nil
}

// metricLabel is the label that a key becomes. With its beginning it is none of those
// that snag's series have by themselves.
func metricLabel(key string) string {
	return "label_" + strings.NewReplacer(".", "_", "-", "_").Replace(key)
}

// on adds a stream's labels to what is sent of it: one that it has not is "", so that
// all series of a name have the same labels.
func (m MetricLabels) on(l Labels, send func(string, recording.Labels, float64)) func(string, recording.Labels, float64) {
	if len(m) == 0 {
		return send
	}
	return func(name string, labels recording.Labels, v float64) {
		for _, key := range m {
			labels[metricLabel(key)] = l[key]
		}
		send(name, labels, v)
	}
}

package watch

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"snag/probes/probe"
)

func TestParseMetricLabels(t *testing.T) {
	got, err := ParseMetricLabels([]string{"site", "meta.rack", "site"})
	if err != nil || strings.Join(got, " ") != "site meta.rack" {
		t.Errorf("%q, %v", got, err)
	}
	for keys, says := range map[string]string{"a.b a_b": "would both be the label label_a_b", "1a": "is not a label key", "": "is not a label key"} {
		if _, err := ParseMetricLabels(strings.Split(keys, " ")); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", keys, err)
		}
	}
}

// Series have the labels that were asked for and no others, each series of a name the
// same ones, and a stream's own label can't pass for one of snag's.
func TestMetricsHaveTheLabelsThatWereAskedFor(t *testing.T) {
	var f fake
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor(), MetricLabels: MetricLabels{"site", "stream", "meta.rack"}})
	of := entries(t, "rtmp://a/x", "rtmp://a/y")
	of[0].Labels = Labels{"site": "north \"1\"", "meta.rack": "a", "stream": "z", "app": "live"}
	w.Set("args", of)
	stop := running(w)
	defer stop()
	await(t, "both are measured", func() bool { return row(w, "x").Figure && row(w, "y").Figure && row(w, "x").State == OK })
	registry := prometheus.NewRegistry()
	registry.MustRegister(&collector{w: w})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, family := range families {
		for _, m := range family.Metric {
			l := map[string]string{}
			for _, p := range m.Label {
				l[p.GetName()] = p.GetValue()
			}
			if l["stream"] == "" {
				continue
			}
			seen[l["stream"]]++
			want := map[string]string{"x": `north "1" a z`, "y": "  "}[l["stream"]]
			site, ok := l["label_site"]
			if _, app := l["label_app"]; !ok || app || site+" "+l["label_meta_rack"]+" "+l["label_stream"] != want {
				t.Errorf("%s: %q", family.GetName(), l)
			}
		}
	}
	if seen["x"] < 20 || seen["y"] < 20 {
		t.Errorf("series: %v", seen)
	}
}

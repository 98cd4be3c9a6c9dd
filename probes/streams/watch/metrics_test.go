package watch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"snag/probes/probe"
)

// A scrape of a real watch: names that a recording has, no series of what is not
// watched, hostile names within their label, and text that Prometheus reads.
func TestMetrics(t *testing.T) {
	var f fake
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor()})
	m, err := Listen("127.0.0.1:0", `v1 "x"`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(m.Addr().String(), ""); err == nil || !strings.Contains(err.Error(), "another program may have the port") {
		t.Errorf("a port that is taken: %v", err)
	}
	hostile := entries(t, "rtmp://a/%22%7d%0a%1b%5b2J", "rtmp://a/well", "rtmp://a/refuses", "rtmp://a/freezes")
	w.Set("args", hostile)
	stop := running(w)
	defer stop()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Serve(ctx, w)
	}()
	defer func() {
		cancel()
		<-done
	}()
	await(t, "streams are read", func() bool {
		return row(w, "well").State == OK && row(w, "freezes").State == OK && row(w, "refuses").State == Refused
	})
	f.freeze.Store(true)
	await(t, "one freezes", func() bool { return row(w, "freezes").State == Frozen })

	values := scrapeOf(t, m)
	for series, want := range map[string]float64{
		`snag_stream_up{stream="well"}`:               1,
		`snag_stream_up{stream="refuses"}`:            0,
		`snag_stream_up{stream="freezes"}`:            0,
		`snag_stream_freezes_total{stream="freezes"}`: 1,
		`snag_stream_freezes_total{stream="well"}`:    0,
		`snag_watch_streams{state="frozen"}`:          1,
		`snag_watch_streams{state="refused"}`:         1,
		`snag_watch_not_watched{}`:                    0,
	} {
		if got, ok := values[series]; !ok || got != want {
			t.Errorf("%s is %v, %v", series, got, ok)
		}
	}
	if values[`snag_stream_frames_total{stream="well"}`] < 5 || values[`snag_stream_freeze_seconds_total{stream="freezes"}`] < 0.9 {
		t.Errorf("%v", values)
	}
	if _, ok := values[`snag_stream_fps{stream="refuses"}`]; ok {
		t.Error("frames per second of a stream that was never read: not measured is not zero")
	}
	w.Set("args", hostile[1:2])
	for series := range scrapeOf(t, m) {
		if strings.Contains(series, `stream="freezes"`) {
			t.Errorf("%s is still there", series)
		}
	}
}

// scrapeOf reads the metrics by name and the label that tells most.
func scrapeOf(t *testing.T, m *Metrics) map[string]float64 {
	t.Helper()
	resp, err := http.Get(fmt.Sprintf("http://%s/metrics", m.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status, err, string(body))
	}
	if strings.Contains(string(body), "\x1b") {
		t.Error("a name moves the cursor of whoever looks")
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for name, family := range families {
		for _, metric := range family.GetMetric() {
			label := ""
			for _, l := range metric.GetLabel() {
				if l.GetName() == "stream" || l.GetName() == "state" {
					label = fmt.Sprintf("%s=%q", l.GetName(), l.GetValue())
				}
			}
			out[name+"{"+label+"}"] += metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	return out
}

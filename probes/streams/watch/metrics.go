package watch

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"snag/internal/web"
	"snag/probes/streams/figures"
	"snag/recording"
)

// Metrics serves the figures of what is watched to Prometheus, under the names
// that a recording has (docs/recording.md, streams.figures). Only streams that are
// watched now have series: a list that changes for months makes no more of them.
type Metrics struct {
	listener net.Listener
	version  string
}

// Listen opens the address that metrics are served at.
func Listen(addr, version string) (*Metrics, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("serve metrics at %s: %w (write as :9847 or 127.0.0.1:9847; another program may have the port)", Clean(addr, 80), err)
	}
	return &Metrics{l, version}, nil
}

// Addr is where metrics are served.
func (m *Metrics) Addr() net.Addr { return m.listener.Addr() }

// Serve serves until ctx ends.
func (m *Metrics) Serve(ctx context.Context, w *Watcher) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(&collector{w: w, version: m.version})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second}))
	mux.HandleFunc("GET /{$}", func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(rw, "snag watch: metrics are at /metrics")
	})
	if err := web.Serve(ctx, m.listener, nil, mux); err != nil {
		w.o.Note(fmt.Sprintf("serve metrics: %v", err))
	}
}

// collector is unchecked: which series there are follows from what is watched.
type collector struct {
	w       *Watcher
	version string
}

// Describe describes nothing, which makes the collector an unchecked one.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends everything as it stands.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	send := func(name string, kind prometheus.ValueType, labels recording.Labels, v float64) {
		desc := prometheus.NewDesc(name, help[name], nil, prometheus.Labels(labels))
		if m, err := prometheus.NewConstMetric(desc, kind, v); err == nil {
			out <- m
		}
	}
	send("snag_build_info", prometheus.GaugeValue, recording.Labels{"version": c.version, "goversion": runtime.Version()}, 1)
	own, states, left := c.w.totals()
	send("snag_watch_cpu_seconds_total", prometheus.CounterValue, nil, own.Total)
	send("snag_watch_memory_bytes", prometheus.GaugeValue, nil, float64(own.Memory))
	send("snag_watch_late_seconds", prometheus.GaugeValue, nil, own.Late.Seconds())
	send("snag_watch_not_watched", prometheus.GaugeValue, nil, float64(left))
	for state, n := range states {
		send("snag_watch_streams", prometheus.GaugeValue, recording.Labels{"state": State(state).String()}, float64(n))
	}
	c.w.samples(func(name string, labels recording.Labels, v float64) {
		kind := prometheus.GaugeValue
		if strings.HasSuffix(name, "_total") {
			kind = prometheus.CounterValue
		}
		if _, layered := labels["layer"]; !layered { // one name, one set of labels
			labels["layer"] = ""
		}
		send(name, kind, labels, v)
	})
}

// totals is what is not of one stream.
func (w *Watcher) totals() (Own, [States]int, int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var states [States]int
	now := w.now()
	for _, s := range w.streams {
		state, _ := stateOf(s.link0(), s.signs, now)
		states[state]++
	}
	return w.meter.own, states, w.left
}

// samples gives every stream's figures as a recording would have them, and beside
// them what only a watch has.
func (w *Watcher) samples(send func(name string, labels recording.Labels, v float64)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	for _, s := range w.streams {
		labels := func() recording.Labels {
			return recording.Labels{"stream": s.entry.Name, "layer": s.entry.Layer, "side": s.side}
		}
		send := w.o.MetricLabels.on(s.entry.Labels, send)
		state, since := stateOf(s.link0(), s.signs, now)
		up := is(state.Comes())
		send("snag_stream_up", labels(), up)
		for one := range States {
			of := labels()
			of["state"] = one.String()
			send("snag_stream_state", of, is(one == state))
		}
		frozen := s.second.Total.Frozen
		if state == Frozen { // the one that stands counts too: an alert must not wait for its end
			frozen += float64(now-since) / 1e9
		}
		if s.eye != nil {
			send("snag_stream_pictures_total", labels(), float64(s.eye.seen()))
		}
		if s.ear != nil {
			send("snag_stream_sounds_total", labels(), float64(s.ear.seen()))
		}
		send("snag_stream_freezes_total", labels(), float64(s.begun))
		send("snag_stream_freeze_seconds_total", labels(), frozen)
		if s.figure && s.second.Total.Connected > 0 {
			for name, v := range map[string]figures.Value{
				"snag_stream_fps": fpsOf(s.second), "snag_stream_late_seconds": s.second.Lateness, "snag_stream_pace_ratio": s.second.Pace,
			} {
				if v.OK && up == 1 {
					send(name, labels(), v.V)
				}
			}
			figures.NewWriter(scrape(send), w.o.Anchor, w.place(s)).Second(s.second, s.figures.Info())
		}
	}
}

// is is how a metric says yes and no.
func is(so bool) float64 {
	if so {
		return 1
	}
	return 0
}

// scrape is a recording's sink that hands samples on and keeps nothing.
type scrape func(name string, labels recording.Labels, v float64)

func (s scrape) Sample(_ recording.Time, name string, labels recording.Labels, v float64) {
	own := make(recording.Labels, len(labels)+1) // the writer uses its labels again
	for k, v := range labels {
		own[k] = v
	}
	s(name, own, v)
}

func (scrape) Append(recording.Row) {}

var help = map[string]string{
	"snag_build_info":                     "The version of snag.",
	"snag_watch_cpu_seconds_total":        "CPU time of the watch.",
	"snag_watch_memory_bytes":             "Resident memory of the watch.",
	"snag_watch_late_seconds":             "The latest that the watch itself ran in the last second; above 0.25 doubt its figures.",
	"snag_watch_not_watched":              "Streams that are wanted and not watched, being over the limit.",
	"snag_watch_streams":                  "Streams by how they are.",
	"snag_stream_up":                      "1 while frames come.",
	"snag_stream_state":                   "1 for the state that the stream is in, 0 for the others.",
	"snag_stream_fps":                     "Video frames per second of the last second, by arrival, of HLS by timestamps; audio's where there is no video.",
	"snag_stream_late_seconds":            "How late frames come at the most since the stream is late; 0 while it is not.",
	"snag_stream_pace_ratio":              "How far the timestamps moved by how far the clock did, over up to the last 10 s: 1 for a stream that is live.",
	"snag_stream_pictures_total":          "Key pictures decoded and judged.",
	"snag_stream_sounds_total":            "Seconds of audio decoded and judged.",
	"snag_stream_freezes_total":           "Freezes that began.",
	"snag_stream_freeze_seconds_total":    "Seconds frozen, the freeze that stands included.",
	"snag_stream_frames_total":            "Frames read.",
	"snag_stream_bytes_total":             "Bytes of the elementary stream.",
	"snag_stream_keyframes_total":         "Key frames read.",
	"snag_stream_media_seconds_total":     "How far the timestamps moved; its rate is 1 for a stream that is live.",
	"snag_stream_gap_seconds":             "The longest time without a frame that ended or stood in the last second.",
	"snag_stream_drift_seconds":           "Arrival against timestamps, over the least of the last minute.",
	"snag_stream_skew_seconds":            "Audio's timestamps less the video's, at arrival.",
	"snag_stream_gop_seconds":             "The last whole GOP's length.",
	"snag_stream_jitter_seconds":          "RFC 3550 6.4.1.",
	"snag_stream_playlist_age_seconds":    "Since the HLS playlist last changed.",
	"snag_stream_target_seconds":          "EXT-X-TARGETDURATION of the HLS playlist.",
	"snag_stream_reader_late_seconds":     "How late the watch itself was in the last second, as this stream's figures take it.",
	"snag_stream_packets_lost_total":      "RTP packets that never came.",
	"snag_stream_packets_late_total":      "RTP packets that came after the reorder window.",
	"snag_stream_packets_reordered_total": "RTP packets out of order.",
	"snag_stream_packets_duplicate_total": "RTP packets that came twice.",
	"snag_stream_continuity_errors_total": "MPEG-TS continuity counters that were not as expected.",
	"snag_stream_reader_dropped_total":    "UDP datagrams that the kernel dropped at snag's own full socket.",
	"snag_stream_segments_failed_total":   "HLS segments and parts that were listed and not given whole.",
}

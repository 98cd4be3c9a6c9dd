package watch

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"

	"snag/probes/streams/stream"
	"snag/recording"
)

// Every family that there can be has its help and keeps Prometheus' rules for names: by
// its own linter, and by promtool where that is installed.
func TestMetricFamilies(t *testing.T) {
	h := newHall()
	err := h.w.Feed(context.Background(), func(tick func()) error {
		var all []handedIn
		for _, protocol := range []string{"rtp", "mpegts", "hls"} {
			s := h.w.Join(Joined{Name: protocol, Named: true, Protocol: protocol, Side: recording.StreamSidePublisher, Server: "a:1", Remote: "b:2"})
			s.Published(h.now, "", "")
			all = append(all, s)
		}
		h.show(12, rand.New(rand.NewPCG(1, 1)), all...)
		for _, s := range all {
			for g := range stream.Gauges {
				s.Gauge(g, 0.01)
			}
		}
		for range 10 {
			h.now += 200e6
			for _, s := range all {
				for _, kind := range []stream.Kind{stream.Video, stream.Audio} {
					s.Frame(stream.Frame{Kind: kind, Arrival: h.now, DTS: h.now, Size: 100})
				}
			}
			tick()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	h.w.mu.Lock()
	for _, s := range h.w.streams {
		s.eye = &eye{p: &Pictures{Every: time.Second}}
		s.ear = &ear{p: s.eye.p}
	}
	h.w.mu.Unlock()
	registry := prometheus.NewRegistry()
	registry.MustRegister(&collector{w: h.w, version: "v1"})
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	there := map[string]bool{}
	for _, f := range families {
		there[f.GetName()] = true
		if f.GetHelp() == "" || (f.GetType().String() == "COUNTER") != strings.HasSuffix(f.GetName(), "_total") {
			t.Errorf("%s is a %s with the help %q", f.GetName(), f.GetType(), f.GetHelp())
		}
		if _, err := expfmt.MetricFamilyToText(&text, f); err != nil {
			t.Fatal(err)
		}
	}
	for name := range help {
		if !there[name] {
			t.Errorf("%s has a help and no series: is it tested here?", name)
		}
	}
	if tool, err := exec.LookPath("promtool"); err == nil {
		cmd := exec.Command(tool, "check", "metrics")
		cmd.Stdin = &text
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("promtool: %v: %s", err, out)
		}
	}
	bad, err := promlint.New(strings.NewReader("x_total 1\n")).Lint()
	if err != nil || len(bad) == 0 {
		t.Errorf("the linter finds nothing in a family without help: %v", err)
	}
}

// A stream's state, lateness and pace have series, those of what is not measured none.
func TestStateLatenessAndPaceAreMetrics(t *testing.T) {
	h := newHall()
	values := map[string]float64{}
	look := func() {
		clear(values)
		h.w.samples(func(name string, labels recording.Labels, v float64) {
			if labels["stream"] == "live/cam1" {
				values[name+labels["state"]] = v
			}
		})
	}
	err := h.w.Feed(context.Background(), func(tick func()) error {
		p := h.join(recording.StreamSidePublisher, "live/cam1", true, "10.0.0.3:5000")
		look()
		if _, there := values["snag_stream_late_seconds"]; there || values["snag_stream_statewaiting"] != 1 || values["snag_stream_stateok"] != 0 {
			t.Errorf("before the first frame: %v", values)
		}
		dts := h.now
		show := func(seconds int, pace float64) {
			for range seconds * 25 {
				h.now += 40e6
				dts += int64(40e6 * pace)
				p.Frame(stream.Frame{Kind: stream.Video, Key: true, Arrival: h.now, DTS: dts, Size: 3000})
				if h.now%200e6 == 0 {
					tick()
				}
			}
		}
		show(15, 1)
		look()
		if late, there := values["snag_stream_late_seconds"]; !there || late != 0 || values["snag_stream_pace_ratio"] < 0.99 || values["snag_stream_stateok"] != 1 {
			t.Errorf("in time: %v", values)
		}
		show(15, 0.8)
		look()
		if late := values["snag_stream_late_seconds"]; late < 2 || late > 3.1 || values["snag_stream_pace_ratio"] > 0.85 || values["snag_stream_statelate"] != 1 || values["snag_stream_stateok"] != 0 {
			t.Errorf("late and slow: %v", values)
		}
		show(40, 1)
		for range 150 {
			h.now += 80e6
			dts += 80e6
			p.Frame(stream.Frame{Kind: stream.Video, Key: true, Arrival: h.now, DTS: dts, Size: 3000})
			tick()
		}
		look()
		if fps, there := values["snag_stream_fps"]; values["snag_stream_stateframe-rate-fell"] != 1 || values["snag_stream_up"] != 1 || !there || fps > 15 {
			t.Errorf("half the frames: %v", values)
		}
		p.End(h.now, &stream.Ended{Why: "FIN"})
		tick()
		look()
		if _, there := values["snag_stream_pace_ratio"]; there || values["snag_stream_statedown"] != 1 {
			t.Errorf("gone: %v", values)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for state := range States {
		sum += values["snag_stream_state"+state.String()]
	}
	if sum != 1 {
		t.Errorf("%v states at once", sum)
	}
}

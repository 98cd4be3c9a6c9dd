package probes

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

func TestStepWatch(t *testing.T) {
	now := clocks{1_000e9, 50e9}
	w := newStepWatch(func() clocks { return now })
	for _, c := range []struct {
		name       string
		wall, boot time.Duration
		want       time.Duration // 0: no step
	}{
		{"a second", time.Second, time.Second, 0},
		{"slewed by 500 ppm", time.Second + 500*time.Microsecond, time.Second, 0},
		{"read 20 ms apart", time.Second + 20*time.Millisecond, time.Second, 0},
		{"forward an hour", time.Hour + time.Second, time.Second, time.Hour},
		{"back an hour", -time.Hour + time.Second, time.Second, -time.Hour},
		{"ntpd's step", 1128 * time.Millisecond, time.Second, 128 * time.Millisecond},
		{"suspended for an hour", time.Hour, time.Hour, 0},
	} {
		now.wall += int64(c.wall)
		now.boot += int64(c.boot)
		step, stepped := w.look()
		if stepped != (c.want != 0) || stepped && step != c.want {
			t.Errorf("%s: %v %v, want %v", c.name, step, stepped, c.want)
		}
	}
}

// A clock that is set during a find is an event; the window is as long as it was.
func TestClockSetWhileRecording(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	looks := 0
	began := time.Now()
	p := Plan{Dir: dir, For: 2500 * time.Millisecond, Notice: func(string) {}, read: func() clocks {
		c := readClocks()
		if looks++; looks > 2 {
			c.wall += int64(time.Hour)
		}
		return c
	}}
	ticker := probe.Probe{Name: "host", Start: func(_ context.Context, e *probe.Env) (probe.Running, error) {
		return last{e}, nil
	}}
	if err := record(context.Background(), p, []probe.Probe{ticker}); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var steps []recording.Event
	for _, e := range r.Events {
		if e.Kind == recording.EventClockStep {
			steps = append(steps, e)
		}
	}
	if len(steps) != 1 || steps[0].Value < 3599.9 || steps[0].Value > 3600.1 || !r.Window().Covers(steps[0].T) {
		t.Errorf("steps %+v in %v, want one of 3600 s", steps, r.Window())
	}
	if l := r.Length(); l < 2400*time.Millisecond || l > took {
		t.Errorf("the window is %v long, find took %v", l, took)
	}
}

// last is a probe that measures once, when it ends.
type last struct{ env *probe.Env }

func (l last) Stop() {
	l.env.Sink.Sample(l.env.Now(), "node_load1", nil, 1)
	l.env.Sink.Append(recording.Coverage{Probe: "host", State: recording.CoverageOK})
}

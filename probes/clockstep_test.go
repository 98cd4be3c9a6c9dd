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
	now := clocks{1_000e9, 50e9, 40e9}
	w := newStepWatch(func() clocks { return now })
	for _, c := range []struct {
		name            string
		wall, boot      time.Duration // beside a second of the monotonic clock
		stepped, asleep time.Duration // 0: no step, not suspended
	}{
		{"a second", time.Second, time.Second, 0, 0},
		{"slewed by 500 ppm", time.Second + 500*time.Microsecond, time.Second, 0, 0},
		{"read 20 ms apart", time.Second + 20*time.Millisecond, time.Second, 0, 0},
		{"forward an hour", time.Hour + time.Second, time.Second, time.Hour, 0},
		{"back an hour", -time.Hour + time.Second, time.Second, -time.Hour, 0},
		{"ntpd's step", 1128 * time.Millisecond, time.Second, 128 * time.Millisecond, 0},
		{"suspended for an hour", time.Hour + time.Second, time.Hour + time.Second, 0, time.Hour},
		{"suspended, and set an hour back", time.Second, time.Hour + time.Second, -time.Hour, time.Hour},
	} {
		now.wall += int64(c.wall)
		now.boot += int64(c.boot)
		now.monotonic += int64(time.Second)
		if step, slept := w.look(); step != c.stepped || slept != c.asleep {
			t.Errorf("%s: set by %v, asleep for %v, want %v and %v", c.name, step, slept, c.stepped, c.asleep)
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

// A suspend is an event of its own, and not a clock that was set: the wall clock goes on meanwhile.
func TestSuspendedWhileRecording(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	looks := 0
	var said []string
	p := Plan{Dir: dir, For: 2500 * time.Millisecond, Notice: func(text string) { said = append(said, text) }, read: func() clocks {
		c := readClocks()
		if looks++; looks > 2 {
			c.wall += int64(20 * time.Second)
			c.boot += int64(20 * time.Second)
		}
		return c
	}}
	host := func(_ context.Context, e *probe.Env) (probe.Running, error) { return last{e}, nil }
	if err := record(context.Background(), p, []probe.Probe{{Name: "host", Start: host}}); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Events) != 1 || r.Events[0].Kind != recording.EventSuspended || r.Events[0].Value < 19.9 || r.Events[0].Value > 20.1 {
		t.Errorf("%+v, want one suspend of 20 s", r.Events)
	}
	if len(said) != 1 || said[0] != "the machine was suspended for 20.0 s; the recording's clock stopped meanwhile" {
		t.Errorf("%q", said)
	}
}

// last is a probe that measures once, when it ends.
type last struct{ env *probe.Env }

func (l last) Stop() {
	l.env.Sink.Sample(l.env.Now(), "node_load1", nil, 1)
	l.env.Sink.Append(recording.Coverage{Probe: "host", State: recording.CoverageOK})
}

package probes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

func TestStepWatch(t *testing.T) {
	now := clocks{1_000e9, 50e9, 40e9, 7}
	w := newStepWatch(func() clocks { return now })
	const second, hour = time.Second, time.Hour
	for _, c := range []struct {
		name            string
		wall, boot, run time.Duration // that the clocks went on
		suspends        int           // -1: no longer counted
		want            looked
	}{
		{"a second", second, second, second, 7, looked{}},
		{"slewed by 500 ppm", second + 500*time.Microsecond, second, second, 7, looked{}},
		{"read 20 ms apart", second + 20*time.Millisecond, second, second, 7, looked{}},
		{"forward an hour", hour + second, second, second, 7, looked{step: hour}},
		{"back an hour", -hour + second, second, second, 7, looked{step: -hour}},
		{"ntpd's step", 1128 * time.Millisecond, second, second, 7, looked{step: 128 * time.Millisecond}},
		{"suspended for an hour", hour + second, hour + second, second, 8, looked{slept: hour}},
		{"suspended, and set an hour back", second, hour + second, second, 9, looked{step: -hour, slept: hour}},
		{"snag was stopped for a minute", 61 * second, 61 * second, 61 * second, 9, looked{}},
		{"suspended to idle for a minute, and the clock went on", 61 * second, 61 * second, 61 * second, 10, looked{sleptOn: time.Minute}},
		{"suspended to idle for a minute, and not counted yet", 61 * second, 61 * second, 61 * second, 10, looked{}},
		{"counted a second later", second, second, second, 11, looked{sleptOn: time.Minute, ago: second}},
		{"and once", second, second, second, 11, looked{}},
		{"suspended for an hour, and not counted yet", hour + second, hour + second, second, 11, looked{slept: hour}},
		{"counted a second later, too", second, second, second, 12, looked{}},
		{"suspended for a moment", second, second, second, 13, looked{}},
		{"the counter is gone", 61 * second, 61 * second, 61 * second, -1, looked{}},
		{"the counter is back", 61 * second, 61 * second, 61 * second, 14, looked{}},
	} {
		now.wall += int64(c.wall)
		now.boot += int64(c.boot)
		now.monotonic += int64(c.run)
		now.suspends = c.suspends
		if got := w.look(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestSuspends(t *testing.T) {
	sys := t.TempDir()
	if n := suspends(sys); n != -1 {
		t.Errorf("a kernel that does not count them: %d", n)
	}
	file := filepath.Join(sys, "power/suspend_stats/success")
	for text, want := range map[string]int{"0\n": 0, "12\n": 12, "\n": -1} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		if n := suspends(sys); n != want {
			t.Errorf("%q: %d", text, n)
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

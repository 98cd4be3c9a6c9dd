package figures

import (
	"math/rand"
	"testing"

	"snag/probes/streams/stream"
	"snag/recording"
)

func TestSteadyIsQuiet(t *testing.T) {
	for _, fps := range []float64{10, 24, 25, 29.97, 30, 50, 59.94} {
		for _, most := range []int64{1, 100 * ms, 350 * ms} {
			tr := steady(fps, int(fps*90), int(fps)*2, 46.875).jitter(rand.New(rand.NewSource(int64(fps)+most)), most)
			r := tr.run(Options{})
			r.quiet(t)
			s := r.seconds[len(r.seconds)-2]
			if most == 1 {
				near(t, "fps", s.Video.FPS.V, fps, 1.01)
				near(t, "drift", s.Drift.V, 0, 0.002)
				near(t, "pace", s.Pace.V, 1, 0.002)
			}
			near(t, "fps by DTS", s.Video.FPSDTS.V, fps, 0.7)
			near(t, "spacing", s.Spacing.V, 1/fps, 0.0002)
			near(t, "GOP", s.GOP.Seconds, float64(int(fps)*2)/fps, 0.002)
			near(t, "GOP varies", s.GOP.Varies.V, 0, 0)
			near(t, "GOP fps", s.GOP.FPS.V, fps, 0.05)
			if s.Variable || !s.Audio.Present || !s.Video.Present || s.Missing != 0 {
				t.Errorf("%v fps, jitter %d ms: %+v", fps, most/ms, s)
			}
		}
	}
}

func TestFirstFrame(t *testing.T) {
	e := steady(25, 100, 50, 46).run(Options{}).of(recording.EventStreamFirstFrame)
	if len(e) != 1 || e[0].Of != stream.Video || e[0].Start != start {
		t.Fatalf("told %+v", e)
	}
	near(t, "first frame", e[0].Value, 0.2, 0.0001)
}

// A sender that is stopped for 5 s by a file clock: everything comes later, at once.
func TestHeldFreeze(t *testing.T) {
	r := steady(30, 30*40, 60, 46).hold(20*second, 5*second).run(Options{})
	e := r.of(recording.EventStreamFreeze)
	if len(e) != 1 {
		t.Fatalf("told %+v", r.events)
	}
	f := e[0]
	near(t, "begins", float64(f.Start-start)/1e9, 20, 0.04)
	near(t, "length", f.Value, 5, 0.04)
	near(t, "threshold", f.Threshold, 1, 0)
	near(t, "DTS step", f.Step.V, 1./30, 0.001)
	near(t, "burst", float64(f.Burst), 150, 3)
	if f.Pattern != Held || f.Doubt || f.Phase != Ended {
		t.Errorf("told %+v", f)
	}
	if n := len(r.of(recording.EventStreamLate)) + len(r.of(recording.EventStreamSkipped)) + len(r.of(recording.EventStreamSlow)); n != 0 {
		t.Errorf("told more: %+v", r.events)
	}
}

// An encoder by the capture clock stands still: DTS goes on with the wall.
func TestSkippedFreeze(t *testing.T) {
	r := steady(25, 25*40, 50, 46).each(func(f *stream.Frame) bool {
		return f.Arrival <= start+20*second || f.Arrival >= start+25*second
	}).run(Options{})
	e := r.of(recording.EventStreamFreeze)
	if len(e) != 1 || e[0].Pattern != Skipped || e[0].Burst != 1 {
		t.Fatalf("told %+v", r.events)
	}
	near(t, "DTS step", e[0].Step.V, 5, 0.05)
	near(t, "pace", e[0].Pace.V, 1, 0.01)
	s := r.of(recording.EventStreamSkipped)
	if len(s) != 1 {
		t.Fatalf("told %+v", r.events)
	}
	near(t, "frames missing", s[0].Value, 124, 1)
	if j := r.of(recording.EventStreamJump); len(j) != 0 {
		t.Errorf("told a jump: %+v", j)
	}
}

// A freeze is told within its threshold and half a second, while it stands.
func TestFreezeIsToldInTime(t *testing.T) {
	tr := steady(25, 250, 50, 46)
	tr.until += 20 * second
	m, told := New(Options{Asked: start}), int64(0)
	m.Published(start, "", "")
	i := 0
	for now := start; now < tr.until; now += second / 4 {
		for i < len(tr.frames) && tr.frames[i].Arrival <= now {
			m.Frame(tr.frames[i])
			i++
		}
		m.Tick(now)
		for _, e := range m.Events(nil) {
			if e.Kind == recording.EventStreamFreeze && e.Phase == Begun {
				told = now - e.Start
			}
		}
	}
	if told < second || told > second*3/2 {
		t.Errorf("told after %v s", float64(told)/1e9)
	}
}

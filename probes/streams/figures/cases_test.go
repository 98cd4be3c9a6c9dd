package figures

import (
	"errors"
	"math/rand"
	"testing"
	"time"

	"snag/probes/streams/stream"
	"snag/recording"
)

// A server sends its cached GOP at once: the newest two seconds, then live.
func TestGOPCacheBurst(t *testing.T) {
	tr := steady(25, 25*40, 100, 46).each(func(f *stream.Frame) bool {
		f.Arrival = max(f.Arrival, start+4*second)
		return true
	})
	r := tr.run(Options{Asked: start + 3*second})
	r.quiet(t)
	for _, s := range r.seconds[2:] {
		if s.Drift.OK && s.Drift.V > 0.05 {
			t.Fatalf("drift %v at %v", s.Drift.V, float64(s.T-start)/1e9)
		}
	}
}

// Screen capture: a frame when something changes.
func TestVariableRateIsNotAccused(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	tr, d := &trace{}, int64(0)
	for i := range 2000 {
		step := int64(33)
		if r.Intn(5) == 0 {
			step *= 2 + r.Int63n(12)
		}
		d += step
		tr.add(stream.Frame{Key: i%100 == 0, Arrival: start + d*ms, DTS: d * ms, PTS: d * ms, Size: 500})
	}
	tr.until = start + d*ms
	res := tr.run(Options{})
	res.quiet(t)
	if !res.seconds[len(res.seconds)-1].Variable {
		t.Error("not known to be variable")
	}
}

// DTS by a capture clock wavers: nothing is missing.
func TestWaveringClockSkipsNothing(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	tr := steady(30, 30*60, 60, 0).each(func(f *stream.Frame) bool {
		if f.DTS > 0 {
			f.DTS += r.Int63n(20)*ms - 10*ms
		}
		return true
	})
	tr.run(Options{}).quiet(t)
}

func TestSkips(t *testing.T) {
	n := 0
	res := steady(30, 30*60, 60, 0).each(func(f *stream.Frame) bool {
		n++
		return n <= 900 || n%100 != 50 && n%100 != 51 // two of a hundred, in the second half
	}).run(Options{})
	e := res.of(recording.EventStreamSkipped)
	if len(e) != 9 {
		t.Fatalf("told %+v", res.events)
	}
	for _, e := range e {
		near(t, "missing", e.Value, 2, 0)
		near(t, "step", e.Step.V, 0.1, 0.001)
	}
	if got := res.seconds[len(res.seconds)-1].Total.Missing; got != 18 {
		t.Errorf("%d missing in all", got)
	}
}

// B-frames: DTS even, PTS not.
func TestReorderedPictures(t *testing.T) {
	n := 0
	steady(25, 25*30, 50, 0).each(func(f *stream.Frame) bool {
		f.PTS += []int64{80, 160, 0, 0}[n%4] * ms
		n++
		return true
	}).run(Options{}).quiet(t)
}

// A reader that knows no DTS tells PTS in coding order.
func TestPTSAsDTS(t *testing.T) {
	n := 0
	res := steady(25, 25*30, 50, 0).each(func(f *stream.Frame) bool {
		f.DTS += []int64{40, 120, 0, 0}[n%4] * ms // P B b b …
		n++
		return true
	}).run(Options{})
	if e := res.of(recording.EventStreamSkipped); len(e) != 0 {
		t.Errorf("skips: %+v", e)
	}
	if e := res.of(recording.EventStreamJump); len(e) > 1 {
		t.Errorf("%d jumps", len(e))
	}
	if s := res.seconds[20]; s.StepsBack == 0 || s.Drift.V > 0.2 {
		t.Errorf("%+v", s)
	}
}

func TestJumps(t *testing.T) {
	for _, by := range []int64{-1e6, -30, 20, 100000} {
		res := steady(25, 25*60, 50, 46).each(func(f *stream.Frame) bool {
			if f.DTS > 30*second {
				f.DTS += by * second
				f.PTS += by * second
			}
			return true
		}).run(Options{})
		e := res.of(recording.EventStreamJump)
		if len(e) != 1 || e[0].Steps != 1 {
			t.Fatalf("by %d: told %+v", by, res.events)
		}
		near(t, "jump", e[0].Value, float64(by), 0.1)
		want := 3
		if by == -30 { // to zero: it begins anew
			want = 4
			if e := res.of(recording.EventStreamRestarted); len(e) != 1 || e[0].From != "30.000" || e[0].To != "0.040" {
				t.Errorf("told %+v", e)
			}
		}
		if n := len(res.events); n != want {
			t.Errorf("by %d: %d events", by, n)
		}
		for _, s := range res.seconds {
			if s.Drift.OK && s.Drift.V > 0.1 {
				t.Fatalf("by %d: drift %v", by, s.Drift.V)
			}
		}
		near(t, "media", res.seconds[len(res.seconds)-1].Total.Media, 60, 1.3)
	}
}

func TestAudioOnly(t *testing.T) {
	tr := steady(25, 25*30, 50, 46.875).each(func(f *stream.Frame) bool { return f.Kind == stream.Audio })
	res := tr.run(Options{})
	res.quiet(t)
	if e := res.of(recording.EventStreamFirstFrame); len(e) != 1 || e[0].Of != stream.Audio || e[0].Start != start {
		t.Errorf("told %+v", e)
	}
	s := res.seconds[20]
	if s.Main != stream.Audio || s.Video.Present || s.Skew.OK || s.GOP.Frames != 0 || !s.Drift.OK {
		t.Errorf("%+v", s)
	}
	res = tr.hold(15*second, 4*second).run(Options{})
	if e := res.of(recording.EventStreamFreeze); len(e) != 1 || e[0].Of != stream.Audio || e[0].Pattern != Held {
		t.Errorf("told %+v", e)
	}
}

func TestVideoAlone(t *testing.T) {
	res := steady(25, 25*30, 50, 0).run(Options{})
	res.quiet(t)
	if s := res.seconds[20]; s.Audio.Present || s.Audio.Frames != 0 || s.Skew.OK {
		t.Errorf("%+v", s)
	}
}

func TestVideoStopsAudioGoesOn(t *testing.T) {
	res := steady(25, 25*30, 50, 46).each(func(f *stream.Frame) bool {
		return f.Kind == stream.Audio || f.Arrival < start+15*second || f.Arrival > start+20*second
	}).run(Options{})
	if e := res.of(recording.EventStreamFreeze); len(e) != 1 || e[0].Of != stream.Video {
		t.Errorf("told %+v", e)
	}
}

func TestAudioStops(t *testing.T) {
	res := steady(25, 25*60, 50, 46).each(func(f *stream.Frame) bool {
		return f.Kind == stream.Video || f.Arrival < start+15*second || f.Arrival > start+40*second
	}).run(Options{})
	e := res.of(recording.EventStreamChanged)
	if len(e) != 2 || e[0].To != "none" || e[1].From != "none" {
		t.Fatalf("told %+v", e)
	}
	near(t, "since", float64(e[0].Start-start)/1e9, 15, 0.1)
	if n := len(res.events); n != 4 {
		t.Errorf("told %+v", res.events)
	}
}

func TestSkew(t *testing.T) {
	res := steady(25, 25*30, 50, 46).each(func(f *stream.Frame) bool {
		if f.Kind == stream.Audio {
			f.DTS += 300 * ms
		}
		return true
	}).run(Options{})
	near(t, "skew", res.seconds[20].Skew.V, 0.3, 0.03)
}

// An encoder that does 0.8 of what it should, by a file clock: everything drifts.
func TestSlowEncoder(t *testing.T) {
	res := steady(30, 30*120, 60, 46).each(func(f *stream.Frame) bool {
		if late := f.DTS - 20*second; late > 0 {
			f.Arrival += min(late, 20*second) / 4
		}
		return true
	}).run(Options{})
	e := res.of(recording.EventStreamSlow)
	if len(e) != 1 || e[0].Phase != Ended {
		t.Fatalf("told %+v", res.events)
	}
	near(t, "ratio", e[0].Value, 0.8, 0.05)
	near(t, "begins", float64(e[0].Start-start)/1e9, 20, 2)
	near(t, "ends", float64(e[0].End-start)/1e9, 46, 3)
	if l := res.of(recording.EventStreamLate); len(l) != 1 {
		t.Errorf("late: %+v", l)
	} else {
		near(t, "the most", l[0].Value, 5, 0.1)
		near(t, "late from", float64(l[0].Start-start)/1e9, 22.5, 0.2)
	}
	if f := res.of(recording.EventStreamFreeze); len(f) != 0 {
		t.Errorf("freeze: %+v", f)
	}
}

// A step that is not made up is late, not slow.
func TestOneStepIsNotSlow(t *testing.T) {
	res := steady(30, 30*60, 60, 46).each(func(f *stream.Frame) bool {
		if f.DTS > 30*second {
			f.Arrival += 9 * second / 10
		}
		return true
	}).run(Options{})
	if e := res.of(recording.EventStreamSlow); len(e) != 0 {
		t.Errorf("slow: %+v", e)
	}
	if e := res.of(recording.EventStreamLate); len(e) != 1 {
		t.Errorf("late: %+v", e)
	}
}

func TestDriftGrows(t *testing.T) {
	res := steady(25, 25*120, 50, 0).each(func(f *stream.Frame) bool {
		f.Arrival += (f.Arrival - start) / 50 // 2 % slow: within what counts as live
		return true
	}).run(Options{})
	e := res.of(recording.EventStreamLate)
	if len(e) != 1 || e[0].Phase != Updated || e[0].End != 0 {
		t.Fatalf("told %+v", res.events)
	}
	near(t, "begins", float64(e[0].Start-start)/1e9, 25.5, 1)
	near(t, "drift", res.seconds[100].Drift.V, 60*0.02, 0.1) // the last minute's
	if e := res.of(recording.EventStreamSlow); len(e) != 0 {
		t.Errorf("slow: %+v", e)
	}
}

// The watch did not look for 3 s: everything came at once to it.
func TestObserverLate(t *testing.T) {
	tr := steady(30, 30*40, 60, 46).hold(20*second, 3*second)
	tr.late = []span{{start + 20*second, start + 23*second}}
	res := tr.run(Options{})
	// Ticks stand in the test's own late span: a real watch's do not. What was told
	// must be taken back.
	for _, e := range res.of(recording.EventStreamFreeze) {
		if !e.Doubt || e.ObserverLate < 2.5 || e.Phase != Ended {
			t.Errorf("told %+v", e)
		}
	}
	doubted := 0
	for _, s := range res.seconds {
		if s.Doubt {
			doubted++
		}
	}
	if doubted == 0 || doubted > 3 || res.seconds[len(res.seconds)-1].Total.Freezes != 0 {
		t.Errorf("%d seconds in doubt, %d freezes", doubted, res.seconds[len(res.seconds)-1].Total.Freezes)
	}
	if n := len(res.of(recording.EventStreamLate)) + len(res.of(recording.EventStreamSkipped)); n != 0 {
		t.Errorf("told %+v", res.events)
	}
}

// The watch got a moment of CPU now and then, for 6 s: five spans, and the frames came
// when the last was over.
func TestObserverStarved(t *testing.T) {
	tr := steady(30, 30*40, 60, 46).hold(20*second, 6200*ms)
	for i := range int64(5) {
		from := start + 20*second + i*1250*ms
		tr.late = append(tr.late, span{from, from + 1000*ms})
	}
	res := tr.run(Options{})
	for _, e := range res.of(recording.EventStreamFreeze) {
		if !e.Doubt {
			t.Errorf("told %+v", e)
		}
	}
	if n := len(res.of(recording.EventStreamLate)); n != 0 || res.seconds[len(res.seconds)-1].Total.Freezes != 0 {
		t.Errorf("told %+v", res.events)
	}
	// With as much time between the spans as in them it was awake half of the time.
	tr = steady(30, 30*40, 60, 46).hold(20*second, 6200*ms)
	for i := range int64(3) {
		from := start + 20*second + i*2000*ms
		tr.late = append(tr.late, span{from, from + 1000*ms})
	}
	if e := tr.run(Options{}).of(recording.EventStreamFreeze); len(e) != 1 || e[0].Doubt {
		t.Errorf("a freeze of 6 s, of which the watch saw three: told %+v", e)
	}
}

// A gap longer than the observer's lateness explains is still a freeze, and marked.
func TestFreezeBeyondLateness(t *testing.T) {
	tr := steady(30, 30*40, 60, 46).hold(20*second, 6*second)
	tr.late = []span{{start + 20*second, start + 22*second}}
	e := tr.run(Options{}).of(recording.EventStreamFreeze)
	if len(e) != 1 || e[0].Doubt || e[0].Pattern != Held {
		t.Fatalf("told %+v", e)
	}
	near(t, "marked", e[0].ObserverLate, 2, 0.05)
}

func TestThresholds(t *testing.T) {
	held := func() *trace { return steady(25, 25*30, 50, 0).hold(15*second, 1500*ms) }
	if e := held().run(Options{Threshold: 2 * time.Second}).of(recording.EventStreamFreeze); len(e) != 0 {
		t.Errorf("told %+v", e)
	}
	if e := held().run(Options{Threshold: 500 * time.Millisecond}).of(recording.EventStreamFreeze); len(e) != 1 {
		t.Errorf("told %+v", e)
	}
	// A frame every two seconds: frozen after six.
	slow := steady(0.5, 60, 5, 0)
	slow.run(Options{}).quiet(t)
	if e := steady(0.5, 60, 5, 0).hold(40*second, 9*second).run(Options{}).of(recording.EventStreamFreeze); len(e) != 1 {
		t.Errorf("told %+v", e)
	} else {
		near(t, "threshold", e[0].Threshold, 6, 0.5)
	}
}

func TestNoFrameAtAll(t *testing.T) {
	tr := &trace{until: start + 30*second}
	res := tr.run(Options{})
	e := res.of(recording.EventStreamFreeze)
	if len(e) != 1 || !e[0].Before || e[0].End != 0 {
		t.Fatalf("told %+v", e)
	}
	s := res.seconds[len(res.seconds)-1]
	if !s.Frozen || s.Video.Present || s.Drift.OK || !s.Gap.OK {
		t.Errorf("%+v", s)
	}
}

func TestEndAndAgain(t *testing.T) {
	tr := steady(25, 25*20, 50, 46)
	tr.until += 5 * second
	res := tr.run(Options{})
	m := res.meter
	m.End(tr.until, &stream.Ended{URL: "rtmp://h/a", Why: "connection closed by the server"})
	ev := m.Events(nil)
	if len(ev) != 2 || ev[0].Phase != Ended || ev[0].Kind != recording.EventStreamFreeze || ev[1].Kind != recording.EventStreamEnded || ev[1].Why != "connection closed by the server" {
		t.Fatalf("told %+v", ev)
	}
	now := tr.until + 30*second
	for at := tr.until; at < now; at += second / 5 {
		m.Tick(at)
	}
	m.Asked(now)
	m.End(now, &stream.Refused{URL: "rtmp://h/a", Why: "NetStream.Play.StreamNotFound"})
	m.Asked(now + second)
	m.Published(now+second, "", "")
	m.Frame(stream.Frame{Key: true, Arrival: now + 2*second, DTS: 0, Size: 10})
	ev = m.Events(nil)
	if len(ev) != 4 || ev[3].Kind != recording.EventStreamRestarted || ev[3].From != "19.960" || ev[3].To != "0.000" {
		t.Fatalf("told %+v", ev)
	}
	if ev[0].Kind != recording.EventStreamRefused || ev[2].Kind != recording.EventStreamFirstFrame {
		t.Fatalf("told %+v", ev)
	}
	near(t, "first frame", ev[2].Value, 1, 0.001)
	m.End(now+3*second, errors.New("read: no such host"))
	if ev = m.Events(nil); len(ev) != 1 || ev[0].Kind != recording.EventStreamEnded {
		t.Fatalf("told %+v", ev)
	}
}

func TestChanged(t *testing.T) {
	m := New(Options{})
	m.Params(stream.Params{Codec: "h264", Width: 1280, Height: 720, FPS: 30})
	m.Params(stream.Params{Kind: stream.Audio, Codec: "aac", SampleRate: 48000, Channels: 2})
	m.Params(stream.Params{Codec: "h264"}) // does not say the rest
	if ev := m.Events(nil); len(ev) != 0 {
		t.Fatalf("told %+v", ev)
	}
	m.Params(stream.Params{Codec: "hevc", Width: 1920, Height: 1080, FPS: 25})
	m.Params(stream.Params{Kind: stream.Audio, SampleRate: 44100})
	var got []string
	for _, e := range m.Events(nil) {
		got = append(got, e.Of.String()+" "+e.What+" "+e.From+" "+e.To)
	}
	want := []string{"video codec h264 hevc", "video resolution 1280x720 1920x1080", "video rate 30 25", "audio rate 48000 44100"}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("told %q", got)
		}
	}
}

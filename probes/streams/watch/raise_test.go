package watch

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

// A stream that froze stands until frames come, also while it is cut off and asked
// for again; those that are well are counted.
func TestAlarmsStandUntilFramesCome(t *testing.T) {
	var f fake
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor()})
	w.Set("test", entries(t, "rtmp://a/1", "rtmp://a/2", "rtmp://a/3"))
	var s *one
	for _, o := range w.streams {
		switch o.entry.Name {
		case "1":
			s = o
		case "2": // it never gave a frame: it can't stop
			continue
		}
		o.link = link{phase: reading, since: 1}
		o.signs = signs{frames: true, live: true, changed: 2}
	}
	for _, c := range []struct {
		what  string
		do    func()
		at    float64
		event string
	}{
		{"well", func() {}, 4, ""},
		{"frozen", func() { s.signs.frozen, s.signs.last = 5e9, 5e9 }, 7, AlarmFreeze},
		{"cut off", func() { s.signs.frozen, s.link.phase = 0, away }, 8, AlarmFreeze},
		{"asked for again", func() { s.link.phase = asking }, 9, AlarmFreeze},
		{"let in again", func() { s.link.phase, s.signs.live = reading, false }, 9.5, AlarmFreeze},
		{"frames come", func() { s.signs.live = true }, 9.8, AlarmWell},
		{"well for long", func() {}, 10, ""},
	} {
		c.do()
		all, others := w.alarming(int64(c.at * 1e9))
		event := ""
		if len(all) > 0 {
			event = all[0].Event
			if a := all[0]; a.Stream != "1" || a.Server != "a" || a.For != time.Duration((c.at-5)*1e9) || a.well != (c.event == AlarmWell) || a.Over != a.well {
				t.Errorf("%s: %+v", c.what, a)
			}
		}
		want := 1
		if c.event == "" {
			want = 2
		}
		if event != c.event || len(all) > 1 || others != want {
			t.Errorf("%s: %q, %d others", c.what, event, others)
		}
	}
}

// Who ended a stream is asked of the host's recording also where it is back before that is an
// alarm, once for each end; what was told before the alarm goes with it.
func TestShortEndsAreJudged(t *testing.T) {
	var f fake
	stops := 0
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor(), Stopped: func() { stops++ }})
	w.Set("test", entries(t, "rtmp://a/1"))
	var s *one
	for _, s = range w.streams {
		s.link, s.signs = link{phase: reading, since: 1}, signs{frames: true, live: true, changed: 2, last: 5e9}
	}
	for _, c := range []struct {
		what   string
		do     func()
		at     float64
		stops  int
		alarms int
	}{
		{"just cut off", func() { s.link.phase, s.signs.live = away, false }, 5.5, 0, 0},
		{"for a second", func() {}, 6.1, 1, 0},
		{"it is told once", func() {}, 7, 1, 0},
		{"back", func() { s.link.phase, s.signs.live, s.signs.last = reading, true, 8e9 }, 8, 1, 0},
		{"cut off again", func() { s.link.phase, s.signs.live, s.signs.last = away, false, 20e9 }, 21.5, 2, 0},
		{"judged", func() { s.judged = &Judged{Culprit: "service-killed", Text: "x", Onset: w.time(20.1e9)} }, 23, 2, 0},
		{"down", func() {}, 26, 2, 1},
	} {
		c.do()
		all, _ := w.alarming(int64(c.at * 1e9))
		if stops != c.stops || len(all) != c.alarms {
			t.Errorf("%s: %d stops, want %d; alarms %+v", c.what, stops, c.stops, all)
		}
		if len(all) > 0 && (all[0].Judged == nil || all[0].Awaited) {
			t.Errorf("%s: not told who it was: %+v", c.what, all[0])
		}
	}
}

// A stream without its audio is an alarm, of which the other streams' pictures tell nothing; a freeze
// meanwhile is told as one.
func TestNoAudioIsAnAlarm(t *testing.T) {
	var f fake
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor()})
	w.Set("test", entries(t, "rtmp://a/1", "rtmp://a/2"))
	var s *one
	for _, o := range w.streams {
		o.link, o.signs = link{phase: reading, since: 1}, signs{frames: true, live: true, changed: 2}
		if o.entry.Name == "1" {
			s = o
		}
	}
	for _, c := range []struct {
		what, event string
		do          func()
		at          float64
	}{
		{"well", "", func() {}, 4},
		{"no audio", AlarmNoAudio, func() { s.signs.silent = 5e9 }, 10},
		{"frozen", AlarmFreeze, func() { s.signs.frozen = 11e9 }, 12},
		{"frames, and no audio", AlarmNoAudio, func() { s.signs.frozen = 0 }, 13},
		{"audio", AlarmWell, func() { s.signs.silent = 0 }, 14},
		{"well for long", "", func() {}, 15},
	} {
		c.do()
		all, _ := w.alarming(int64(c.at * 1e9))
		event := ""
		if len(all) == 1 {
			event = all[0].Event
		}
		if event != c.event || len(all) > 1 {
			t.Errorf("%s: %+v", c.what, all)
		}
		if event == AlarmNoAudio && (all[0].Verdict != "" || all[0].condition() != "without audio for "+short(all[0].For)) {
			t.Errorf("%s: %+v", c.what, all[0])
		}
	}
	if !w.sick {
		t.Error("the watch does not end as one of a stream that was not well")
	}
}

// A rate that fell is an alarm that tells what it was and is, and of fewer bytes what that may be.
func TestFallsAreAlarms(t *testing.T) {
	var f fake
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor()})
	w.Set("test", entries(t, "rtmp://a/1", "rtmp://a/2"))
	for _, o := range w.streams {
		o.link, o.signs = link{phase: reading, since: 1}, signs{frames: true, live: true, changed: 2}
		if o.entry.Name == "1" {
			o.signs.fell = fall{recording.EventStreamRateFell, 5e9, 25, 12}
		} else {
			o.signs.fell = fall{recording.EventStreamBitsFell, 5e9, 900_000, 40_000}
		}
	}
	all, others := w.alarming(15e9)
	if len(all) != 2 || others != 0 || !w.sick {
		t.Fatalf("%+v, %d others, sick: %v", all, others, w.sick)
	}
	for _, a := range all {
		env := strings.Join(environment(callOf(a.Alarm)), "|")
		switch a.Stream {
		case "1":
			if a.Event != AlarmRateFell || a.Verdict != "" || a.sentence() != "1 is at 12 instead of 25 frames per second for 10 s" || !strings.Contains(env, "SNAG_RATE=12.000|SNAG_RATE_BEFORE=25.000") {
				t.Errorf("%q: %+v: %s", a.sentence(), a, env)
			}
		case "2":
			text, _ := body(t, "snag", callOf(a.Alarm))
			if a.Event != AlarmBitsFell || !strings.Contains(a.Verdict, "a viewer can't tell which") || a.sentence() != "2 is at 40 instead of 900 kb/s for 10 s" || !strings.Contains(text, `"rate":40000,"rate_before":900000`) {
				t.Errorf("%q: %+v: %s", a.sentence(), a, text)
			}
		}
	}
	for _, o := range w.streams {
		o.signs.fell = fall{}
	}
	if all, _ := w.alarming(20e9); len(all) != 2 || all[0].Event != AlarmWell || !all[0].Over {
		t.Errorf("%+v", all)
	}
}

// Most freezes are over when the host's recording is judged: who was told of one is
// told its verdict, and a command that waited for it is run.
func TestVerdictAfterTheFreeze(t *testing.T) {
	t.Parallel()
	var f fake
	var l told
	var stops atomic.Int64
	hook, command := &noted{}, &noted{}
	w := New(Options{
		Open: f.of, Anchor: probe.NewAnchor(), Tell: l.event, Note: l.note, Stopped: func() { stops.Add(1) },
		Alarms: []*Alarms{NewAlarms("--webhook", hook, DefaultLimits, true, l.note), NewAlarms("--on-freeze", command, DefaultLimits, false, l.note)},
	})
	w.Set("args", entries(t, "rtmp://a/freezes/1", "rtmp://a/freezes/2", "rtmp://a/well"))
	stop := running(w)
	defer stop()
	await(t, "all are well", func() bool {
		return row(w, "freezes/1").State == OK && row(w, "freezes/2").State == OK && row(w, "well").State == OK
	})
	calls := func(n *noted) string {
		n.mu.Lock()
		defer n.mu.Unlock()
		return strings.ReplaceAll(strings.Join(n.called, ","), "2+freezes/1", "1+freezes/2") // whichever was first
	}
	f.freeze.Store(true)
	await(t, "the freeze is told", func() bool { return calls(hook) == "freeze freezes/1+freezes/2" })
	f.freeze.Store(false)
	await(t, "its end is told", func() bool { return calls(hook) == "freeze freezes/1+freezes/2,well freezes/1+freezes/2" })
	if got := calls(command); got != "" || stops.Load() != 2 {
		t.Errorf("the command was run for %q and did not wait; %d stops", got, stops.Load())
	}
	judge := func() {
		w.Judge(func(stream, _ string) (Judged, bool) {
			return Judged{Culprit: "encoder-stall", Confidence: 0.9, Text: "ffmpeg stalls", Recording: "/x"}, strings.HasPrefix(stream, "freezes")
		})
	}
	judge()
	await(t, "the webhook has the verdict, the command is run", func() bool {
		return calls(hook) == "freeze freezes/1+freezes/2,well freezes/1+freezes/2,verdict freezes/1+freezes/2" && calls(command) == "freeze freezes/1+freezes/2"
	})
	judge() // of the next minute: it was told
	time.Sleep(3 * tick)
	if got := calls(hook); strings.Count(got, "verdict") != 1 {
		t.Errorf("the webhook was called for %s", got)
	}
	a := command.calls[0].Alarms[0]
	if !a.Over || a.For < time.Second || a.For > 10*time.Second || a.Judged == nil || a.Verdict != "ffmpeg stalls" {
		t.Errorf("the command was told %+v", a)
	}
	if v := hook.calls[2].Alarms[1]; !v.Over || v.For < time.Second || v.Judged == nil || v.Onset.IsZero() || v.URL == "" || v.Onset != hook.calls[0].Alarms[1].Onset {
		t.Errorf("the webhook was told %+v", v)
	}
}

// slow is an action that does not end before it may.
type slow struct {
	noted
	may chan struct{}
}

func (s *slow) Do(ctx context.Context, c Call) error {
	err := s.noted.Do(ctx, c)
	<-s.may
	return err
}

// When the watch ends, what waited is told, and what is not is said.
func TestAlarmsEnd(t *testing.T) {
	l := DefaultLimits
	l.PerMinute = 1
	const lost = "--x: 2 alarms of 2 streams (two, three) were postponed, and the watch ended before the next call"
	for ends, want := range map[bool]string{true: "freeze one,freeze two+three,well one", false: "freeze one"} {
		action := &slow{may: make(chan struct{})}
		var said []string
		a := NewAlarms("--x", action, l, ends, func(s string) { said = append(said, s) })
		one, two, three := frozen, frozen, frozen
		one.Stream, two.Stream, three.Stream = "one", "two", "three"
		two.Onset, three.Onset = epoch.Add(time.Second), epoch.Add(2*time.Second)
		tick := func(at time.Duration, alarms ...raised) {
			a.Tick(context.Background(), alarms, 1, epoch.Add(at))
		}
		tick(0, raised{Alarm: one})
		tick(2*time.Second, raised{Alarm: one})
		well := one
		well.Event, well.Over = AlarmWell, true
		tick(3*time.Second, raised{well, true}, raised{Alarm: two})
		tick(5*time.Second, raised{Alarm: two}, raised{Alarm: three}) // two is over the limit, three waits for others
		close(action.may)
		a.End(context.Background(), epoch.Add(5500*time.Millisecond))
		a.End(context.Background(), epoch.Add(6*time.Second)) // once is enough
		a.Tick(context.Background(), []raised{{Alarm: one}}, 0, epoch.Add(time.Hour))
		if got := inOneOrder(action.called); got != want {
			t.Errorf("ends %v: called for %s", ends, got)
		}
		if text := strings.Join(said, "\n"); strings.Contains(text, lost) == ends {
			t.Errorf("ends %v: it said\n%s", ends, text)
		}
	}
}

// An end that waits for others is told, too.
func TestAlarmsEndTellsEnds(t *testing.T) {
	action := &noted{}
	a := NewAlarms("--x", action, DefaultLimits, true, func(string) {})
	one, two := frozen, frozen
	one.Stream, two.Stream = "one", "two"
	tickWith(a, epoch, 0, one, two)
	one.Event, one.Over = AlarmWell, true
	tickWith(a, epoch.Add(5*time.Second), 0, one, two)
	if got := strings.Join(action.called, ","); got != "freeze one+two" {
		t.Errorf("called for %s", got)
	}
	a.End(context.Background(), epoch.Add(5*time.Second))
	if got := strings.Join(action.called, ","); got != "freeze one+two,well one" {
		t.Errorf("called for %s", got)
	}
}

// inOneOrder sorts what was begun at the same time.
func inOneOrder(called []string) string {
	if len(called) == 3 && strings.HasPrefix(called[1], "well") {
		called[1], called[2] = called[2], called[1]
	}
	return strings.Join(called, ",")
}

// A command that outlives its freeze is not run beside itself.
func TestCommandIsNotRunBesideItself(t *testing.T) {
	out := t.TempDir() + "/out"
	c := Command{Argv: []string{"sh", "-c", "echo begun >> " + out + "; sleep 0.5"}, Timeout: 10 * time.Second}
	a := NewAlarms("--on-freeze", c, Limits{Most: time.Minute, PerMinute: 100, Tries: 100, Within: time.Hour, AllTries: 100, Heals: time.Minute}, false, func(string) {})
	for i := range 10 {
		a.Tick(context.Background(), []raised{{Alarm: frozen}}, 0, epoch.Add(time.Duration(i)*time.Second))
	}
	a.done.Wait()
	b, err := os.ReadFile(out)
	if err != nil || strings.Count(string(b), "begun") != 1 {
		t.Errorf("%v: %s", err, b)
	}
}

// Of a stream that is late, slow, incomplete or refused from the beginning the host's recording is
// asked once, as long as that lasts.
func TestWhatIsNoAlarmIsJudgedToo(t *testing.T) {
	var f fake
	stops := 0
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor(), Stopped: func() { stops++ }})
	w.Set("test", entries(t, "rtmp://a/1"))
	var s *one
	for _, s = range w.streams {
		s.link, s.signs = link{phase: away, refused: true, since: 1e9}, signs{}
	}
	for _, c := range []struct {
		what  string
		do    func()
		at    float64
		stops int
	}{
		{"refused", func() {}, 2, 1},
		{"asked again and refused again", func() { s.link.since = 3e9 }, 4, 1},
		{"well", func() {
			s.link, s.signs = link{phase: reading, since: 5e9}, signs{frames: true, live: true, changed: 5e9}
		}, 6, 1},
		{"late", func() { s.signs.late = 8e9 }, 9, 2},
		{"still late", func() {}, 50, 2},
		{"still late", func() {}, 90, 2},
		{"well again", func() { s.signs.late = 0 }, 95, 2},
		{"slow soon after", func() { s.signs.slow = 100e9 }, 101, 2},
		{"well for long", func() { s.signs.slow = 0 }, 170, 2},
		{"incomplete", func() { s.signs.skipped = 180e9 }, 181, 3},
		{"again", func() { s.signs.skipped = 182e9 }, 183, 3},
	} {
		c.do()
		if all, _ := w.alarming(int64(c.at * 1e9)); stops != c.stops || len(all) != 0 {
			t.Errorf("%s: %d times, want %d; alarms %+v", c.what, stops, c.stops, all)
		}
	}
}

// A viewer who is let in and gets no frame, or whose stream ends before one came: the host's recording
// is asked what keeps its publisher out.
func TestLetInAndNoFrameIsJudged(t *testing.T) {
	var f fake
	stops := 0
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor(), Stopped: func() { stops++ }})
	w.Set("test", entries(t, "rtmp://a/1"))
	for _, s := range w.streams {
		s.link, s.signs = link{phase: reading, begun: 1e9, since: 1e9}, signs{}
	}
	for _, c := range []struct{ at, ends, stops int }{{5, 0, 0}, {6, 1, 1}, {7, 1, 1}, {8, 2, 2}, {12, 2, 3}, {13, 2, 3}, {40, 2, 3}} {
		for _, s := range w.streams {
			s.link.ends = c.ends
		}
		if w.alarming(int64(c.at) * 1e9); stops != c.stops {
			t.Errorf("after %d s and %d ends %d times, want %d", c.at, c.ends, stops, c.stops)
		}
	}
}

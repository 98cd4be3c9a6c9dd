package figures

import (
	"testing"

	"snag/probes/streams/stream"
	"snag/recording"
)

// cut takes the frames out that came in a span, and says that the observer missed it.
func (t *trace) cut(from, to int64) *trace {
	t.each(func(f *stream.Frame) bool { return f.Arrival <= start+from || f.Arrival >= start+to })
	t.missed = append(t.missed, span{start + from, start + to})
	return t
}

// blamed are the events that accuse somebody.
func (r result) blamed(t *testing.T) (out []Event) {
	t.Helper()
	for _, e := range r.events {
		switch e.Kind {
		case recording.EventStreamFreeze, recording.EventStreamSkipped, recording.EventStreamJump, recording.EventStreamLate, recording.EventStreamSlow, recording.EventStreamChanged:
			if !e.Doubt {
				out = append(out, e)
			}
		}
	}
	return out
}

// What the observer missed accuses nobody: neither the gap, nor the frames that
// are missing after it, and nothing of it is counted as the stream's.
func TestMissedAccusesNobody(t *testing.T) {
	for _, hole := range []int64{50, 300, 900, 1100, 2500, 12000} {
		tr := steady(25, 25*60, 50, 46).cut(20*second, 20*second+hole*ms)
		r := tr.run(Options{Over: true})
		if e := r.blamed(t); len(e) > 0 {
			t.Errorf("a hole of %d ms: %+v", hole, e)
		}
		last := r.seconds[len(r.seconds)-1]
		if last.Total.Freezes != 0 || last.Total.Missing != 0 {
			t.Errorf("a hole of %d ms: %d freezes and %d missing frames are counted", hole, last.Total.Freezes, last.Total.Missing)
		}
		doubted := 0
		for _, s := range r.seconds {
			if s.Missed {
				doubted++
			}
			if s.Missed && !s.Doubt {
				t.Errorf("a hole of %d ms: a second that was missed is not in doubt", hole)
			}
		}
		if doubted == 0 || doubted > 4+int(hole/1000)+1 {
			t.Errorf("a hole of %d ms: %d seconds are in doubt", hole, doubted)
		}
	}
}

// A freeze that the observer can't have made is told, though a hole is near it.
func TestFreezeBesideAHole(t *testing.T) {
	for _, over := range []bool{true, false} {
		tr := steady(25, 25*60, 50, 46).hold(20*second, 8*second).cut(19*second, 19*second+200*ms)
		r := tr.run(Options{Over: over})
		e := r.of(recording.EventStreamFreeze)
		if len(e) != 1 || e[0].Doubt || e[0].Phase != Ended {
			t.Fatalf("over %v: told %+v", over, e)
		}
		near(t, "length", e[0].Value, 8, 0.1)
		if e[0].Missed == 0 || e[0].Missed > 2.3 {
			t.Errorf("missed %v s of it", e[0].Missed)
		}
	}
}

// Of a live capture, a hole that shows only at its end takes back what was told.
func TestHoleThatShowsLate(t *testing.T) {
	r := steady(25, 25*60, 50, 46).cut(20*second, 24*second).run(Options{})
	e := r.of(recording.EventStreamFreeze)
	if len(e) != 1 || !e[0].Doubt || e[0].Phase != Ended {
		t.Fatalf("told %+v", e)
	}
	if n := r.seconds[len(r.seconds)-1].Total.Freezes; n != 0 {
		t.Errorf("%d freezes are counted", n)
	}
}

// Of what is over, a freeze that never ended is told by Finish.
func TestFreezeAtTheEnd(t *testing.T) {
	tr := steady(25, 25*20, 50, 46)
	tr.until += 5 * second
	r := tr.run(Options{Over: true})
	if e := r.of(recording.EventStreamFreeze); len(e) != 0 {
		t.Fatalf("told before it was over: %+v", e)
	}
	r.meter.Finish(tr.until)
	r.events = r.meter.Events(r.events)
	if e := r.of(recording.EventStreamFreeze); len(e) != 1 || e[0].Phase != Begun || e[0].Value < 4.9 {
		t.Fatalf("told %+v", e)
	}
}

// Audio is not set against video while their timestamps have no common origin.
func TestApart(t *testing.T) {
	tr := steady(25, 25*10, 50, 46)
	m := New(Options{})
	m.Apart(true)
	known := 0
	tick := func(at int64) {
		s, whole := m.Tick(at)
		if !whole || s.Video.Frames == 0 {
			return
		}
		if s.Skew.OK && s.T < start+5*second {
			t.Errorf("skew %v at %v s", s.Skew.V, seconds(s.T-start))
		}
		if s.Skew.OK {
			known++
		}
	}
	for i, f := range tr.frames {
		if f.Arrival >= start+5*second && tr.frames[max(i-1, 0)].Arrival < start+5*second {
			m.Apart(false)
		}
		tick(f.Arrival - 1)
		m.Frame(f)
	}
	if known < 3 {
		t.Errorf("skew was known in %d seconds once it could be", known)
	}
}

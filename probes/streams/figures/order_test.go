package figures

import (
	"testing"

	"snag/probes/streams/stream"
	"snag/recording"
)

// given plays frames that are handed in later than they came: of a picture whose end
// only the next one tells, a reader knows late that it was whole. by is when each is
// handed in.
func given(o Options, frames []stream.Frame, by []int64, until int64) result {
	o.Asked = start - second/5
	r := result{meter: New(o)}
	r.meter.Published(start, "", "")
	tick := o.Asked
	ticks := func(now int64) {
		for ; tick <= now; tick += second / 5 {
			if s, whole := r.meter.Tick(tick); whole {
				r.seconds = append(r.seconds, s)
			}
			r.events = r.meter.Events(r.events)
		}
	}
	for i, f := range frames {
		ticks(by[i] - 1)
		r.meter.Frame(f)
	}
	ticks(until)
	return r
}

// Of a stream whose pictures are known to be whole when the next begins, the last one
// before a freeze is handed in once the freeze is over. It came before: the freeze is
// one, and as long as nothing came.
func TestAPictureThatIsKnownLateEndsNoFreeze(t *testing.T) {
	for name, o := range map[string]Options{"at its pace": {}, "its own threshold": {Threshold: 300e6}, "over": {Over: true}} {
		for _, known := range []int64{0, second / 2} { // 0: with the next picture
			var frames []stream.Frame
			var by []int64
			for i := range int64(25 * 20) {
				at := start + i*40*ms
				if i >= 250 {
					at += 5 * second
				}
				frames = append(frames, stream.Frame{Key: i%50 == 0, Arrival: at, DTS: i * 40 * ms, Size: 5000})
				by = append(by, at+40*ms)
			}
			by[249] = frames[250].Arrival
			if known != 0 {
				by[249] = frames[249].Arrival + known
			}
			for i := range int64(40) { // sound that goes on is no picture
				frames = append(frames, stream.Frame{Kind: stream.Audio, Arrival: start + 8*second + i*100*ms, DTS: 8*second + i*100*ms, Size: 300})
				by = append(by, start+8*second+i*100*ms)
			}
			r := given(o, sortBy(frames, by), by, start+252*second/10)
			var told []Event
			for _, e := range r.events {
				if e.Kind == recording.EventStreamFreeze && e.Phase != Updated {
					told = append(told, e)
				}
			}
			if len(told) != 2 || told[0].Phase != Begun || told[1].Phase != Ended || told[0].ID != told[1].ID {
				t.Fatalf("%s: told %+v", name, told)
			}
			near(t, name+": length", told[1].Value, 5.04, 0.041)
			near(t, name+": DTS step", told[1].Step.V, 0.04, 0.001)
			if n := r.seconds[len(r.seconds)-1].Total.Freezes; n != 1 {
				t.Errorf("%s: %d freezes", name, n)
			}
		}
	}
}

// sortBy puts frames and when they are handed in into that order.
func sortBy(frames []stream.Frame, by []int64) []stream.Frame {
	for i := range frames {
		for j := i; j > 0 && by[j] < by[j-1]; j-- {
			by[j], by[j-1] = by[j-1], by[j]
			frames[j], frames[j-1] = frames[j-1], frames[j]
		}
	}
	return frames
}

// A freeze that was told while its frames had come and were read late never was: it
// ends as the observer's own doing, not before it was told, and counts as none.
func TestFramesThatWereReadLateAreNoFreeze(t *testing.T) {
	var frames []stream.Frame
	var by []int64
	for i := range int64(25 * 10) {
		at := start + i*40*ms
		frames = append(frames, stream.Frame{Arrival: at, DTS: i * 40 * ms, Size: 5000})
		if at >= start+4*second && at < start+6*second {
			at = start + 6*second
		}
		by = append(by, at)
	}
	r := given(Options{}, frames, by, start+21*second/2)
	e := r.of(recording.EventStreamFreeze)
	if len(e) < 1 || !e[0].Doubt || e[0].Phase != Ended || e[0].End <= e[0].Start {
		t.Fatalf("told %+v", e)
	}
	near(t, "ends when its frames were read", seconds(e[0].End-start), 6, 0.21)
	near(t, "snag was late", e[0].ObserverLate, e[0].Value, 0.001)
	if n := r.seconds[len(r.seconds)-1].Total.Freezes; n != 0 {
		t.Errorf("%d freezes", n)
	}
}

// A server that lets in and gives nothing is one freeze, also where it then says what
// the stream is made of; its first frame ends it.
func TestParametersEndNoFreeze(t *testing.T) {
	m := New(Options{Asked: start})
	m.Published(start, "", "")
	var told []Event
	for now := start; now < start+30*second; now += second / 5 {
		switch now - start {
		case 12 * second:
			m.Params(stream.Params{Kind: stream.Video, Codec: "h264", FPS: 25})
		case 25 * second:
			m.Frame(stream.Frame{Key: true, Arrival: now, Size: 5000})
		}
		m.Tick(now)
		told = m.Events(told)
	}
	e := result{events: told}.of(recording.EventStreamFreeze)
	if len(e) < 1 || e[0].Phase != Ended {
		t.Fatalf("told %+v", e)
	}
	near(t, "length", e[0].Value, 25, 0.01)
	if e[0].Step.OK {
		t.Errorf("a step from no frame: %+v", e[0])
	}
}

// The buffer of a segmented stream's player that runs dry when the next segment comes
// is no freeze of 0.000 s.
func TestABufferThatJustLasts(t *testing.T) {
	for _, late := range []int64{0, 1, ms, 50 * ms} {
		r := segments(60, 2, func(i int) int64 {
			at := int64(i) * 2 * second
			if i >= 30 {
				at += 4*second + 49*ms/4 + late // three target durations after what came last
			}
			return at
		}).run(Options{Bursty: true, Target: 2e9})
		for _, e := range r.of(recording.EventStreamFreeze) {
			t.Errorf("%d ms: told %+v", late/ms, e)
		}
	}
}

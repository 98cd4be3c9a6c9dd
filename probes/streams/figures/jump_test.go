package figures

import (
	"testing"

	"snag/probes/streams/stream"
	"snag/recording"
)

// looped makes a stream's timestamps begin anew every length of it, less overlap:
// a file that a publisher plays in a loop.
func (t *trace) looped(length, overlap int64) *trace {
	return t.each(func(f *stream.Frame) bool {
		by := f.DTS / length * overlap
		f.DTS, f.PTS = f.DTS-by, f.PTS-by
		return true
	})
}

// A loop that goes back by whatever it does: told as a jump, never as lateness, and
// the clock of the machine shows nowhere.
func TestALoopIsNotLate(t *testing.T) {
	const minute = 60 * second
	for _, overlap := range []int64{100 * ms, 400 * ms, 900 * ms, 3 * second, 10 * second} {
		for name, r := range map[string]result{
			"at its pace": steady(25, 25*180, 50, 46).looped(10*second, overlap).run(Options{}),
			"in segments": segments(90, 2, func(i int) int64 { return int64(i) * 2 * second }).looped(10*second, overlap).run(Options{Bursty: true}),
		} {
			if late := r.of(recording.EventStreamLate); len(late) != 0 {
				t.Errorf("%s, %.1f s back: late %+v", name, seconds(overlap), late)
			}
			if jumps := r.of(recording.EventStreamJump); len(jumps) != 17 {
				t.Errorf("%s, %.1f s back: %d jumps told of 17", name, seconds(overlap), len(jumps))
			}
			if f := r.of(recording.EventStreamFreeze); len(f) != 0 {
				t.Errorf("%s, %.1f s back: frozen %+v", name, seconds(overlap), f)
			}
			near(t, name+": media", r.seconds[len(r.seconds)-1].Total.Media, seconds(3*minute), 12)
		}
	}
}

// A segment between two freezes: what it is held against begins anew with each. It
// once was held against the machine's own clock, and was late by the hours that that
// was up.
func TestASegmentBetweenTwoFreezes(t *testing.T) {
	r := segments(60, 2, func(i int) int64 {
		at := int64(i) * 2 * second
		if i >= 20 {
			at += 10 * second
		}
		if i >= 21 {
			at += 10 * second
		}
		return at
	}).run(Options{Bursty: true})
	if e := r.of(recording.EventStreamFreeze); len(e) != 2 {
		t.Fatalf("told %+v", r.events)
	}
	if late := r.of(recording.EventStreamLate); len(late) != 0 {
		t.Errorf("late: %+v", late)
	}
}

// A jump forward in segments, and one back by more than a day: 33 bits of 90 kHz.
func TestJumpsInSegments(t *testing.T) {
	for _, by := range []int64{-95443, -60, 20, 95443} {
		r := segments(60, 2, func(i int) int64 { return int64(i) * 2 * second }).each(func(f *stream.Frame) bool {
			if f.DTS >= 41*second { // within a segment
				f.DTS, f.PTS = f.DTS+by*second, f.PTS+by*second
			}
			return true
		}).run(Options{Bursty: true})
		jumps := r.of(recording.EventStreamJump)
		if len(jumps) != 1 || len(r.events) != 3 {
			t.Fatalf("by %d: told %+v", by, r.events)
		}
		near(t, "jump", jumps[0].Value, float64(by), 0.1)
	}
}

// Audio that begins anew a second after the video did is not out of step by as much
// in the meantime.
func TestALoopKeepsAudioAndVideoTogether(t *testing.T) {
	r := steady(25, 25*30, 50, 46).each(func(f *stream.Frame) bool {
		at := 15 * second
		if f.Kind == stream.Audio {
			at += 100 * ms
		}
		if f.DTS > at-50*ms {
			f.DTS, f.PTS = f.DTS-12*second, f.PTS-12*second
		}
		return true
	}).run(Options{})
	for _, s := range r.seconds {
		if s.Skew.OK && (s.Skew.V > 0.2 || s.Skew.V < -0.2) {
			t.Errorf("audio and video %v s apart at %v", s.Skew.V, seconds(s.T-start))
		}
	}
}

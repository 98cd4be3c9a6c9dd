package figures

import (
	"testing"

	"snag/probes/streams/stream"
	"snag/recording"
)

// Segments come at once: frames and bits per second are those of the media, each second,
// until the stream stands still.
func TestRatesOfSegments(t *testing.T) {
	for _, length := range []int64{2, 6} {
		r := segments(30, length, func(i int) int64 {
			at := int64(i) * length * second
			if i >= 20 {
				at += 10 * length * second
			}
			return at
		}).run(Options{Bursty: true})
		freezes := r.of(recording.EventStreamFreeze)
		if len(freezes) != 1 {
			t.Fatalf("told %+v", r.events)
		}
		still := 0
		for _, s := range r.seconds[2:] {
			end := s.T + int64(s.Length*1e9)
			if end > freezes[0].Start+second/2 && end <= freezes[0].End {
				still++
				if s.Video.FPS != known(0) || s.Video.Bitrate != known(0) {
					t.Errorf("%d s: %v fps, %v b/s while it stops", length, s.Video.FPS, s.Video.Bitrate)
				}
				continue
			}
			near(t, "fps", s.Video.FPS.V, 25, 0.01)
			near(t, "fps by DTS", s.Video.FPSDTS.V, 25, 0.01)
			near(t, "bits", s.Video.Bitrate.V, 4000*8*25, 1)
			if !s.Video.Present {
				t.Errorf("%d s: no video at %v", length, seconds(s.T-start))
			}
			if s.Five.Length > 0 && s.T < freezes[0].Start-second {
				near(t, "fps over five seconds", s.Five.Video.FPS.V, 25, 0.01)
			}
		}
		if int64(still) < 6*length {
			t.Errorf("%d s: it stops for %d seconds", length, still)
		}
	}
}

// What a server has kept and sends at once counts as frames and bytes, and makes no
// frame rate: of that nothing was measured yet.
func TestRatesBehindAGOPCache(t *testing.T) {
	for name, spread := range map[string]int64{"at once": 0, "over three round trips": 300 * ms} {
		tr := steady(25, 25*20, 50, 46).each(func(f *stream.Frame) bool {
			if kept := 3 * second; f.DTS < kept { // and what is live follows behind it
				f.Arrival = start + spread*(f.DTS/second)/3
			} else {
				f.Arrival = max(f.Arrival-kept, start+spread)
			}
			return true
		})
		tr.until = start + 17*second
		r := tr.run(Options{})
		first, whole := 0, 0
		for _, s := range r.seconds {
			if s.Video.Frames > 70 {
				first++
				if s.Video.FPS.OK || s.Video.Bitrate.OK || s.Audio.Bitrate.OK {
					t.Errorf("%s: %+v", name, s.Video)
				}
			}
			if s.Video.FPS.OK && s.T < start+16*second {
				whole++
				near(t, name+": fps", s.Video.FPS.V, 25, 1.01)
				near(t, name+": bits", s.Video.Bitrate.V, 5003*8*25, 5003*8*1.1)
			}
		}
		if first != 1 || whole < 14 {
			t.Fatalf("%s: %d seconds with the cache, %d measured", name, first, whole)
		}
		five := r.seconds[5].Five.Video
		near(t, name+": fps over five seconds", five.FPS.V, 25, 0.3)
		if five.Frames < 75+3*25 {
			t.Errorf("%s: %d frames of five seconds: the cache is of them", name, five.Frames)
		}
		r.quiet(t)
	}
}

// What goes on coming too fast is how the stream is.
func TestRatesOfAStreamThatIsTooFast(t *testing.T) {
	r := steady(25, 25*30, 50, 0).each(func(f *stream.Frame) bool {
		f.Arrival = start + (f.Arrival-start)*5/6
		return true
	}).run(Options{})
	near(t, "fps", r.seconds[10].Video.FPS.V, 30, 1.01)
}

// Before the first frame there is no rate; while a freeze stands it is 0.
func TestRatesBeforeTheFirstFrame(t *testing.T) {
	r := (&trace{until: start + 20*second}).run(Options{})
	for _, s := range r.seconds {
		if v := s.Audio.FPS; v.OK != s.Frozen || v.V != 0 {
			t.Errorf("%v at %v s, frozen %v", v, seconds(s.T-start), s.Frozen)
		}
	}
	if last := r.seconds[len(r.seconds)-1]; !last.Frozen || last.Video.FPS.OK {
		t.Errorf("%+v", last)
	}
}

package watch

import (
	"context"
	"math/rand/v2"
	"testing"

	"snag/probes/streams/past"
	"snag/recording"
)

// A stream's seconds are remembered as they were measured: a rate, then none while it is
// frozen, by which its timestamps fall behind the clock; and its freeze.
func TestSecondsAreRemembered(t *testing.T) {
	h := newHall()
	h.w.o.Over, h.w.o.Remember = true, true
	err := h.w.Feed(context.Background(), func(tick func()) error {
		p := h.join(recording.StreamSidePublisher, "live/cam1", true, "10.0.0.3:5000")
		h.show(10, rand.New(rand.NewPCG(1, 1)), p)
		for range 20 {
			h.now += 200e6
			tick()
		}
		h.show(5, rand.New(rand.NewPCG(1, 1)), p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rated, still, behind, freezes := 0, 0, 0.0, 0
	h.w.Remembered(func(r Remembered) {
		for _, p := range r.Past.Points() {
			switch v := p.Low[past.FPS]; {
			case v > 20 && v < 30:
				rated++
			case v == 0:
				still++
			}
			if v := p.Low[past.Clock]; v < behind {
				behind = v
			}
			if v := p.Low[past.Audio]; v == v {
				t.Errorf("audio of %v of a stream that has none", v)
			}
		}
		for _, e := range r.Past.Events() {
			if row := r.Event(e); row.Kind == recording.EventStreamFreeze && row.End > row.T {
				freezes++
			}
		}
	})
	if rated < 8 || still < 2 || behind > -2.5 || freezes != 1 {
		t.Errorf("%d seconds with a rate, %d without a frame, %v s behind the clock, %d freezes", rated, still, behind, freezes)
	}
}

func TestNothingIsRememberedUnlessAsked(t *testing.T) {
	h := newHall()
	h.join(recording.StreamSidePublisher, "live/cam1", true, "10.0.0.3:5000")
	n := 0
	if h.w.Remembered(func(Remembered) { n++ }); n != 0 {
		t.Errorf("%d streams are remembered", n)
	}
}

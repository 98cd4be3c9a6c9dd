package ps

import (
	"testing"

	"snag/probes/streams/figures"
	"snag/recording"
)

// A device that stands still for 5 s froze once, also where it sets no marker bit: then
// the picture before it is known to be whole when the next one comes.
func TestOneFreezeIsOne(t *testing.T) {
	const ms = int64(1e6)
	for _, marker := range []bool{true, false} {
		meter := figures.New(figures.Options{Asked: 1})
		meter.Published(1, "", "")
		d := NewDemuxer(meter)
		var events []figures.Event
		now := int64(0)
		until := func(at int64) {
			for ; now < at; now += 200 * ms {
				meter.Tick(now)
				events = meter.Events(events)
			}
		}
		for i, b := range camera(250) {
			at := 1000*ms + int64(i)*40*ms
			if i >= 125 {
				at += 5000 * ms
			}
			until(at)
			d.Feed(b, at)
			if marker {
				d.FrameEnds()
			}
		}
		until(now + 800*ms)
		freezes := 0
		for _, e := range events {
			if e.Kind != recording.EventStreamFreeze || e.Phase != figures.Ended {
				continue
			}
			if freezes++; e.Value < 4.9 || e.Value > 5.2 {
				t.Errorf("marker %v: frozen for %.2f s", marker, e.Value)
			}
		}
		if freezes != 1 {
			t.Errorf("marker %v: %d freezes, want 1", marker, freezes)
		}
	}
}

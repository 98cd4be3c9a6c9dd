package ts

import (
	"testing"

	"snag/probes/streams/figures"
	"snag/recording"
)

// A transport stream that stands still for 5 s froze once: the picture before it is
// given late (a PES packet of video need not tell its length), by 0.5 s over UDP and
// with the next picture over HTTP.
func TestOneFreezeIsOne(t *testing.T) {
	const ms = int64(1e6)
	for name, idles := range map[string]bool{"UDP": true, "HTTP": false} {
		meter := figures.New(figures.Options{Asked: 1, Threshold: 300e6})
		meter.Published(1, "", "")
		d := New(meter)
		m := &muxer{}
		m.program(0, 0x1b, 0)
		var events []figures.Event
		now := int64(0)
		until := func(at int64) {
			for ; now < at; now += 100 * ms {
				if idles {
					d.Idle(now, int64(idle))
				}
				meter.Tick(now)
				events = meter.Events(events)
			}
		}
		for i := range int64(250) {
			at := 1000*ms + i*40*ms
			if i >= 125 {
				at += 5000 * ms
			}
			until(at)
			m.pes(videoPID, i*3600, picture(t, i%25 == 0, 500))
			for _, p := range m.out {
				d.Feed(p, at)
			}
			m.out = nil
		}
		until(now + 200*ms)
		freezes := 0
		for _, e := range events {
			if e.Kind != recording.EventStreamFreeze || e.Phase != figures.Ended {
				continue
			}
			if freezes++; e.Value < 4.9 || e.Value > 5.2 {
				t.Errorf("%s: frozen for %.2f s", name, e.Value)
			}
		}
		if freezes != 1 {
			t.Errorf("%s: %d freezes, want 1", name, freezes)
		}
	}
}

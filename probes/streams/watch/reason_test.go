package watch

import (
	"context"
	"math/rand/v2"
	"testing"

	"snag/probes/streams/stream"
	"snag/recording"
)

// A frozen stream's row says what its transport knows of it; once frames come again,
// nothing.
func TestAFrozenRowSaysWhy(t *testing.T) {
	h := newHall()
	err := h.w.Feed(context.Background(), func(tick func()) error {
		p := h.join(recording.StreamSidePublisher, "live/cam1", true, "10.0.0.3:5000")
		r := rand.New(rand.NewPCG(1, 1))
		h.show(3, r, p)
		stream.Reason(p, "the segments answer 404\x1b (3 of the last 3)")
		for range 15 {
			h.now += 200e6
			tick()
		}
		if row := row(h.w, "live/cam1"); row.State != Frozen || row.Why != `the segments answer 404\x1b (3 of the last 3)` {
			t.Errorf("%s: %q", row.State, row.Why)
		}
		stream.Reason(p, "")
		h.show(3, r, p)
		if row := row(h.w, "live/cam1"); row.State == Frozen || row.Why != "" {
			t.Errorf("%s: %q", row.State, row.Why)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

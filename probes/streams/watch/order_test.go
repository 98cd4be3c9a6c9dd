package watch

import (
	"context"
	"math/rand/v2"
	"testing"

	"snag/probes/streams/figures"
	"snag/recording"
)

// Of a capture file a freeze is told once it is over: its beginning for no later time
// than its end, as whoever reads the lines in their order of time must find.
func TestABeginningIsToldForBeforeTheEnd(t *testing.T) {
	h := newHall()
	h.w.o.Over = true
	err := h.w.Feed(context.Background(), func(tick func()) error {
		p := h.join(recording.StreamSidePublisher, "live/cam1", true, "10.0.0.3:5000")
		h.show(5, rand.New(rand.NewPCG(1, 1)), p)
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
	var begun, ended *Happened
	for i := range h.told {
		e := &h.told[i]
		switch {
		case e.Kind != recording.EventStreamFreeze:
		case e.Phase == figures.Begun:
			begun = e
			if ended != nil {
				t.Error("the end is told first")
			}
		case e.Phase == figures.Ended:
			ended = e
		}
	}
	if begun == nil || ended == nil {
		t.Fatalf("told %+v", h.told)
	}
	if begun.At > ended.At || ended.End <= ended.T {
		t.Errorf("begun told at %d, ended at %d, from %d", begun.At, ended.End, ended.T)
	}
}

func TestKnownAt(t *testing.T) {
	b := begins{}
	begun, ended := figures.Event{ID: 7, Phase: figures.Begun, Start: 1}, figures.Event{ID: 7, Phase: figures.Ended, Start: 1, End: 50}
	for _, c := range []struct {
		what  string
		e     figures.Event
		later []figures.Event
		now   int64
		want  int64
	}{
		{"told while it stands", begun, nil, 60, 60},
		{"its last frame came before that and was read after it", ended, nil, 80, 60},
		{"told when it is over", begun, []figures.Event{{ID: 6, Phase: figures.Ended, End: 20}, ended}, 80, 50},
		{"its end", ended, nil, 80, 50},
		{"an instant", figures.Event{ID: 8, Start: 40}, nil, 80, 80},
	} {
		if got := b.knownAt(c.e, c.later, c.now); got != c.want {
			t.Errorf("%s: %d, want %d", c.what, got, c.want)
		}
	}
	if len(b) != 0 {
		t.Errorf("kept: %v", b)
	}
}

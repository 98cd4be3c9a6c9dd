package watch

import (
	"context"
	"testing"
	"time"

	"snag/probes/streams/pace"
)

// What holds up the readers holds up the pulse: it is told while it lasts, once when it is
// over, and then no more.
func TestPulseIsLateWithTheReaders(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var p pulse
	ended := make(chan struct{})
	go func() { defer close(ended); p.run(ctx) }()
	await(t, "the pulse beats", func() bool { return p.due.Load() != 0 })
	held, free := make(chan struct{}), make(chan struct{})
	go func() {
		turns := 0
		_ = pace.Each(ctx, beatEvery, func(int64) error {
			if turns++; turns == 3 {
				close(held)
				<-free
			}
			return nil
		})
	}()
	<-held
	p.take()
	time.Sleep(400 * time.Millisecond)
	if late := p.take(); late < 300*time.Millisecond {
		t.Errorf("while it is held up for 0.4 s it is late by %s", late)
	}
	close(free)
	before := p.due.Load()
	await(t, "it goes on", func() bool { return p.due.Load() > before })
	if late := p.take(); late < 300*time.Millisecond {
		t.Errorf("once it goes on it was late by %s", late)
	}
	await(t, "it is in time again", func() bool { return p.take() < 100*time.Millisecond })
	cancel()
	<-ended
	if late := p.take(); late > 100*time.Millisecond {
		t.Errorf("it has ended, and is late by %s", late)
	}
}

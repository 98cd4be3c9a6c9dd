package actor

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// toggle is a state that SIGUSR1 turns on, off, on…
type toggle struct {
	mu sync.Mutex
	on chan struct{} // closed while it is on
	is bool
}

// toggled turns with every SIGUSR1 from now on.
func toggled(is bool) *toggle {
	t := &toggle{on: make(chan struct{}), is: is}
	if is {
		close(t.on)
	}
	c := make(chan os.Signal, 4)
	signal.Notify(c, syscall.SIGUSR1)
	go func() {
		for range c {
			t.turn()
		}
	}()
	return t
}

func (t *toggle) turn() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.is = !t.is; t.is {
		close(t.on)
	} else {
		t.on = make(chan struct{})
	}
}

// isOn reports whether it is on now.
func (t *toggle) isOn() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.is
}

// sleep waits for d, and no longer than it is on.
func (t *toggle) sleep(ctx context.Context, d time.Duration) {
	for end := time.Now().Add(d); t.isOn() && time.Now().Before(end); {
		if !sleep(ctx, min(20*time.Millisecond, time.Until(end))) {
			return
		}
	}
}

// await waits until it is on; false when the context ended before.
func (t *toggle) await(ctx context.Context) bool {
	t.mu.Lock()
	on := t.on
	t.mu.Unlock()
	select {
	case <-on:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

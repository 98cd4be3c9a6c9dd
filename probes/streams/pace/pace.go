// Package pace wakes whoever reads at a pace of its own, all of one pace in the same
// moment: a wake-up costs as much as reading several streams.
package pace

import (
	"context"
	"time"

	"snag/probes/streams/wire"
)

// Next is the multiple of every on the monotonic clock that follows now, ns: the same
// moment for all who have that pace.
func Next(now int64, every time.Duration) int64 {
	return now - now%int64(every) + int64(every)
}

// Every calls do at each multiple of period on the monotonic clock until ctx ends, with
// how late that was. What was missed is told once. Where the kernel gives no timer, for
// want of descriptors, Go's are used.
func Every(ctx context.Context, period time.Duration, do func(late time.Duration)) {
	t, err := newTicker(period)
	if err != nil {
		everyByGo(ctx, period, do)
		return
	}
	stop := context.AfterFunc(ctx, t.close)
	defer func() {
		if stop() {
			t.close()
		}
	}()
	for due := t.next; t.wait(); due = t.next {
		do(time.Duration(wire.Monotonic() - due))
	}
}

func everyByGo(ctx context.Context, period time.Duration, do func(late time.Duration)) {
	for due := Next(wire.Monotonic(), period); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(due - wire.Monotonic())):
		}
		now := wire.Monotonic()
		late := now - due
		due = Next(now, period)
		do(time.Duration(late))
	}
}

package trial

import (
	"context"
	"errors"
	"fmt"
	"time"

	"snag/load/elimination"
)

const (
	mostOfBurst  = 64 // datagrams at once: a default receive buffer of Linux, 208 KiB, has room for 270 small ones
	leastOfBurst = 8
	burstTries   = 3
	burstPause   = 300 * time.Millisecond
	burstWait    = 2 * time.Second
	spreadFor    = 2 * time.Second
)

// bursts sends datagrams many at once, and as many one at a time. Their number is such that the service can answer
// them in time, one after the other, if it has room to keep them.
func (t *trial) bursts(ctx context.Context) error {
	if !t.live.IsValid() {
		return errors.New("no address is known")
	}
	n := mostOfBurst
	if takes := t.takes(); takes > 0 {
		n = min(n, int(burstWait.Seconds()/2/takes))
	}
	if n < leastOfBurst {
		return fmt.Errorf("an answer takes so long that %d at once are not answered in %s", leastOfBurst, burstWait)
	}
	o, err := t.talk(ctx, t.Target)
	if err != nil {
		return err
	}
	defer o.close()
	out := &elimination.Bursts{}
	echoed := make(chan *elimination.Echo, 1)
	go func() {
		e, err := echo(ctx, t.live.Addr(), echoes, echoEvery)
		if err != nil || e.Lost == e.Sent {
			e = nil
		}
		echoed <- e
	}()
	err = t.spread(ctx, o, n)
	out.Spread = o.tried()
	for range burstTries {
		before := o.tried()
		if err = errors.Join(err, t.atOnce(ctx, o, n)); err != nil {
			break
		}
		now := o.tried()
		out.AtOnce = append(out.AtOnce, elimination.Tried{N: now.N - before.N, Answered: max(0, now.Answered-before.Answered)})
	}
	if out.Echo = <-echoed; err != nil {
		return err
	}
	out.Dropped = o.dropped()
	t.m.Bursts = out
	return nil
}

func (t *trial) spread(ctx context.Context, o *talk, n int) error {
	for range n {
		if err := o.send(); err != nil {
			return err
		}
		pause(ctx, spreadFor/time.Duration(n))
	}
	o.await(ctx, burstWait)
	return nil
}

func (t *trial) atOnce(ctx context.Context, o *talk, n int) error {
	lost := o.sent - o.tried().Answered
	for range n {
		if err := o.send(); err != nil {
			return err
		}
	}
	// What was lost before is not awaited.
	for until := time.Now().Add(burstWait); time.Now().Before(until) && ctx.Err() == nil && o.tried().Answered < o.sent-lost; {
		time.Sleep(time.Millisecond)
	}
	pause(ctx, burstPause)
	return nil
}

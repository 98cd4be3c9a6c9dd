package trial

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"snag/load/elimination"
)

const (
	connects     = 20 // to each address
	connectEvery = 25 * time.Millisecond
	// synAgain is when a SYN without an answer is sent again: one second, less what clocks and the rest take.
	synAgain = 900 * time.Millisecond
)

// connects makes connections to each address and closes them.
func (t *trial) connects(ctx context.Context) error {
	if len(t.addresses) == 0 {
		if _, err := t.resolve(ctx); err != nil {
			return err
		}
	}
	out := make([]elimination.Address, len(t.addresses))
	var all sync.WaitGroup
	for i, a := range t.addresses {
		all.Go(func() { out[i] = t.connectTo(ctx, a) })
	}
	all.Wait()
	for i, a := range t.addresses {
		if out[i].N > 0 && !t.live.IsValid() {
			t.live = a
		}
		if out[i].N == 0 && out[i].Silent > 0 {
			if e, err := echo(ctx, a.Addr(), 3, 100*time.Millisecond); err == nil && e.Lost < e.Sent {
				yes := true
				out[i].Alive = &yes
			}
		}
	}
	t.m.Connect = out
	return nil
}

func (t *trial) connectTo(ctx context.Context, to netip.AddrPort) elimination.Address {
	out := elimination.Address{Address: to.String()}
	var took []time.Duration
	var mu sync.Mutex
	var all sync.WaitGroup
	for range connects {
		all.Go(func() {
			c, d, err := dial(ctx, to, t.Options)
			mu.Lock()
			defer mu.Unlock()
			out.Tried++
			switch {
			case err == nil:
				info := infoOf(c)
				c.Close()
				took = append(took, d)
				if d >= synAgain || info != nil && info.Total_retrans > 0 {
					out.Delayed++
				}
			case errors.Is(err, unix.ECONNREFUSED):
				out.Refused++
			default:
				out.Silent++
				out.Delayed++
			}
		})
		pause(ctx, connectEvery)
	}
	all.Wait()
	out.Times = timesOf(took)
	if len(took) > 0 {
		out.Least = quantile(took, 0)
	}
	return out
}

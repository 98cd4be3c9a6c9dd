package trial

import (
	"context"
	"errors"
	"sync"

	"snag/load"
	"snag/load/elimination"
)

const (
	// smallSegment passes wherever IPv4 does (RFC 1122: 576 bytes, less the headers).
	smallSegment = 536
	sizeTries    = 3
	// filling is less than a padded request has, also where HTTP/2 has compressed its headers.
	filling = 2500
)

// sizes asks with what fills segments. What gets no answer is asked again with small segments, which no
// hop is too narrow for: if these pass, the others were too large, and nobody said so.
func (t *trial) sizes(ctx context.Context) error {
	if !t.live.IsValid() {
		return errors.New("no address takes connections")
	}
	z := &elimination.Size{SmallSegment: smallSegment}
	z.Plain = t.try(ctx, z, t.Target, t.Options)
	padded, err := load.Padded(t.URL, t.Request)
	if err == nil {
		z.Padded = t.try(ctx, z, padded, t.Options)
	} else {
		t.m.Miss("padded", err.Error())
	}
	z.Filled = z.Segment > 0 && z.Segment <= filling
	small := t.Options
	small.MaxSegment = smallSegment
	switch {
	case z.Plain.Answered == 0:
		z.Small = t.try(ctx, nil, t.Target, small)
	case z.Padded != nil && z.Padded.Answered == 0:
		z.Small = t.try(ctx, nil, padded, small)
	}
	t.m.Size = z
	return nil
}

// try asks some times at once, each time on a connection of its own.
func (t *trial) try(ctx context.Context, z *elimination.Size, target load.Target, o load.SocketOptions) *elimination.Tried {
	out := &elimination.Tried{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range sizeTries {
		all.Go(func() {
			p, err := once(ctx, t.live, target, o, t.Timeout)
			mu.Lock()
			defer mu.Unlock()
			out.N++
			if err == nil {
				out.Answered++
			}
			if p.info == nil {
				return
			}
			if err != nil && p.info.Unacked > 0 {
				out.Unacked++
			}
			if z != nil {
				z.Segment, z.SegmentBack = int(p.info.Snd_mss), int(p.info.Advmss)
				z.Largest = max(z.Largest, int(p.info.Rcv_mss))
			}
		})
	}
	all.Wait()
	return out
}

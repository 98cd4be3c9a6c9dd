package readers

import (
	"context"
	"time"

	"snag/readers/sides"
	"snag/recording"
)

// requestKey finds a request again that another pair of captures has: its client's
// capture is the same.
type requestKey struct {
	t      recording.Time
	client string
}

// addHops parts the network's time of requests by the captures between both ends. What
// of the wait passed behind a capture it tells by its own clock, so no clocks need agree.
func (k *heldRequests) addHops(ctx context.Context, h sides.Hops, shift func(path string) time.Duration) {
	at := map[requestKey]*recording.Request{}
	for i := range k.rows {
		at[requestKey{k.rows[i].T, k.rows[i].Client}] = &k.rows[i]
	}
	client, server := h.Ends()
	for n, mid := range h.Between {
		got := &heldRequests{Sink: nowhere{}}
		by := sides.Shift{int64(shift(mid.Path(0))), int64(shift(mid.Path(1)))}
		if _, err := mid.Join(ctx, nil, by, got); err != nil {
			return // interrupted
		}
		for _, m := range got.rows {
			q := at[requestKey{m.T, m.Client}]
			if q == nil {
				continue
			}
			q.Hops = inTwo(q, m, client, h.Names[n], server)
		}
	}
}

// inTwo cuts the last hop of a request in two, by what a capture between has of it.
func inTwo(q *recording.Request, m recording.Request, client, mid, server string) []recording.Hop {
	hops := q.Hops
	if len(hops) == 0 {
		hops = []recording.Hop{{From: client, To: server, Network: q.Network, LostOut: q.LostOut, LostBack: q.LostBack}}
	}
	last := hops[len(hops)-1]
	before, lostOut, lostBack := 0.0, 0, 0 // on hops that are cut off already
	for _, hop := range hops[:len(hops)-1] {
		before, lostOut, lostBack = before+hop.Network, lostOut+hop.LostOut, lostBack+hop.LostBack
	}
	first := recording.Hop{From: last.From, To: mid,
		Network: min(max(m.Network-before, 0), last.Network),
		LostOut: min(max(m.LostOut-lostOut, 0), last.LostOut), LostBack: min(max(m.LostBack-lostBack, 0), last.LostBack)}
	second := recording.Hop{From: mid, To: last.To, Network: last.Network - first.Network, LostOut: last.LostOut - first.LostOut, LostBack: last.LostBack - first.LostBack}
	return append(hops[:len(hops)-1:len(hops)-1], first, second)
}

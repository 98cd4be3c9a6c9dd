package backend

import (
	"math"
	"time"

	"snag/lab/drawn"
)

// Load draws what is asked of a server that answers in that time, in so many round trips
// to the client, with as many connections as that takes while all is well.
func Load(b *drawn.Bench, n drawn.Net, capacity float64, answer time.Duration, trips int) drawn.Load {
	l := b.LoadOf(capacity)
	each := answer + time.Duration(trips)*n.RTT + 5*time.Millisecond
	l.Conns = max(l.Conns, 2+int(math.Ceil(2*l.Rate*each.Seconds())))
	b.Values["connections"] = l.Conns
	return l
}

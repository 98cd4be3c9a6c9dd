package chain

import (
	"time"

	"snag/lab/broadcast"
	"snag/lab/drawn"
)

// Show is a chain in sizes that are drawn.
type Show struct {
	*Chain
	Kbit int // of the stream, per second
}

// Drawn makes a chain, with viewers at the edge that keep logs, and has snag watch the
// stream at all its places.
func Drawn(b *drawn.Bench) *Show {
	p := broadcast.PictureOf(b)
	rtt := b.Duration("round trip from origin to edge", 500*time.Microsecond, 80*time.Millisecond)
	c := &Show{Chain: Of(b.Stage, p, "--delay", (rtt / 2).String()), Kbit: p.Kbit}
	if b.Err() != nil {
		return c
	}
	broadcast.Viewers(b, c.Viewer, addresses["edge"]+":1935", p.Kbit)
	c.WatchLayers()
	return c
}

package pcap

import (
	"cmp"
	"slices"

	"snag/internal/packet"
	"snag/recording"
)

// Bounds of the segments that are kept one by one.
const (
	mostTracked = 192 // connections at a time
	mostPoints  = 320 // segments of one: beyond it every second is dropped
	mostRecent  = 48  // segments of a wait, its last
	mostDrawn   = 4   // connections of a capture
)

// point is a segment of a connection that is tracked.
type point struct {
	at       int64
	window   int64 // bytes; -1: not known
	seq, ack uint32
	len      int32
	flags    uint8
	side     int8
	again    bool
}

// track is the course of one connection.
type track struct {
	points []point // evenly thinned out
	every  int     // of so many segments one is kept
	n      int
	recent [mostRecent]point
	wait   []point // the longest so far
	base   [2]uint32
	based  [2]bool
}

// track begins to follow a connection, if there is room.
func (a *analysis) track(c *conn) {
	if a.tracked < mostTracked {
		a.tracked++
		c.track = &track{every: 1}
	}
}

// point notes a segment, before it is counted.
func (c *conn) point(s *segment, side int) {
	k := c.track
	if k == nil {
		return
	}
	h, p := &c.half[side], &c.half[1-side]
	o := point{at: s.at, window: -1, seq: s.seq, ack: s.ack, len: int32(s.len), flags: s.flags, side: int8(side)}
	switch {
	case s.window == 0 || s.has(packet.SYN) || h.sawSYN && p.sawSYN && (!h.scaled || !p.scaled):
		o.window = int64(s.window)
	case h.sawSYN && p.sawSYN:
		o.window = int64(s.window) << h.scale
	}
	o.again = s.len > 0 && h.begun && int32(s.seq+uint32(s.len)-h.next) <= 0
	k.take(o)
}

func (k *track) take(o point) {
	if !k.based[o.side] {
		k.base[o.side], k.based[o.side] = o.seq, true
	}
	k.recent[k.n%mostRecent] = o
	if k.n++; k.n%k.every == 0 || o.again || o.flags&(packet.SYN|packet.FIN|packet.RST) != 0 {
		k.points = append(k.points, o)
	}
	if len(k.points) >= mostPoints {
		kept := k.points[:0]
		for i := 0; i < len(k.points); i += 2 {
			kept = append(kept, k.points[i])
		}
		k.points, k.every = kept, min(2*k.every, 1<<20)
	}
}

// waited keeps the segments since a time: they are of the longest wait so far.
func (k *track) waited(since int64) {
	if k == nil {
		return
	}
	k.wait = k.wait[:0]
	for i := max(0, k.n-mostRecent); i < k.n; i++ {
		if o := k.recent[i%mostRecent]; o.at >= since {
			k.wait = append(k.wait, o)
		}
	}
}

// drawn is a connection whose segments are written.
type drawn struct {
	worth float64
	rows  []recording.Segment
}

// worth is for how long somebody waited on a connection, s; of others a trifle by their bytes.
func (c *conn) worth() float64 {
	sum := c.silence.worst + c.half[0].limit.zero + c.half[1].limit.zero
	switch {
	case c.hand.syn != 0 && c.hand.synAck == 0:
		sum += second + c.last - c.first
	case c.hand.syns > 1:
		sum += c.hand.took()
	}
	if c.cut || c.hand.refused {
		sum += second
	}
	return seconds(sum) + float64(c.half[0].bytes+c.half[1].bytes)/1e15
}

// draw keeps the segments of a connection that ends, if it is among those worth most.
func (a *analysis) draw(c *conn) {
	k := c.track
	if k == nil {
		return
	}
	a.tracked--
	c.track = nil
	worth := c.worth()
	if len(a.drawn) >= mostDrawn && worth <= a.drawn[len(a.drawn)-1].worth {
		return
	}
	if len(k.wait) == 0 && (c.hand.synAck == 0 || c.cut) { // it ended with the wait
		k.waited(0)
	}
	a.drawn = append(a.drawn, drawn{worth, k.rows(a, c)})
	slices.SortStableFunc(a.drawn, func(x, y drawn) int { return cmp.Compare(y.worth, x.worth) })
	a.drawn = a.drawn[:min(len(a.drawn), mostDrawn)]
}

// rows are all segments that were kept of a connection.
func (k *track) rows(a *analysis, c *conn) (out []recording.Segment) {
	server := c.server()
	row := func(o point, wait bool) recording.Segment {
		r := recording.Segment{T: recording.Time(o.at), Netns: a.netns, Client: c.addr(1 - server).String(), Server: c.addr(server).String(),
			Up: int(o.side) != server, Flags: flagsOf(o.flags), Seq: o.seq - k.base[o.side], Len: int(o.len), Window: o.window, Again: o.again, Wait: wait}
		if o.flags&packet.ACK != 0 && k.based[1-o.side] {
			r.Ack = o.ack - k.base[1-o.side]
		}
		return r
	}
	wait := map[point]bool{}
	for _, o := range k.wait {
		wait[o] = true
	}
	for _, o := range k.points {
		if !wait[o] {
			out = append(out, row(o, false))
		}
	}
	for _, o := range k.wait {
		out = append(out, row(o, true))
	}
	return out
}

// flagsOf names flags as tcpdump does.
func flagsOf(flags uint8) string {
	out := ""
	for _, f := range []struct {
		bit  uint8
		name string
	}{{packet.SYN, "S"}, {packet.FIN, "F"}, {packet.RST, "R"}, {packet.PSH, "P"}, {packet.ACK, "."}} {
		if flags&f.bit != 0 {
			out += f.name
		}
	}
	return out
}

// writeDrawn writes the segments of the connections that were worth most.
func (a *analysis) writeDrawn() {
	for _, d := range a.drawn {
		for _, row := range d.rows {
			a.out.Append(row)
		}
	}
}

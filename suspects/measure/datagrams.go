package measure

import (
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
)

// NearlyAlways is the share of the looks at which the buffer of a receiver is full that
// never catches up: readers that stall now and then leave it empty in between.
const NearlyAlways = 0.8

// keptFull is what of its buffer such a receiver leaves full: the kernel gives up to a
// quarter of what was read back later (net/ipv4/udp.c, udp_rmem_release).
const keptFull = 0.7

// FewLooks tell nothing of "always".
const FewLooks = 4

// AlwaysFull reports whether a UDP socket's buffer was nearly full whenever it was looked at
// from when it first lost datagrams, and that it lost them in nearly every second from then on; and at
// how many of how many looks.
func AlwaysFull(k *scene.Socket) (full, looks int, always bool) {
	lost := 0
	for i := 1; i < len(k.Rows); i++ {
		a, b := k.Rows[i-1], k.Rows[i]
		if b.RcvBuf == 0 || lost == 0 && b.Drops == a.Drops {
			continue
		}
		looks++
		if float64(b.Rmem) >= keptFull*float64(b.RcvBuf) {
			full++
		}
		if b.Drops > a.Drops {
			lost++
		}
	}
	least := NearlyAlways * float64(looks)
	return full, looks, looks >= FewLooks && float64(full) >= least && float64(lost) >= least
}

// UnreadDatagrams is at how many looks in a fault's time datagrams lay at a socket, of
// how many, the most bytes, and how many it lost for want of room.
func UnreadDatagrams(k *scene.Socket, spans []recording.Interval) (waiting, looks, most int, lost uint64) {
	if k == nil {
		return 0, 0, 0, 0
	}
	var last *recording.Socket
	for i := range k.Rows {
		row := &k.Rows[i]
		if intervals.Cover(spans, row.T) {
			looks++
			if row.RecvQ > LeastWaiting {
				waiting++
				most = max(most, row.RecvQ)
			}
			if last != nil && row.Drops > last.Drops {
				lost += row.Drops - last.Drops
			}
		}
		last = row
	}
	return waiting, looks, most, lost
}

// LeastWaiting bytes must wait unread to count: a packet.
const LeastWaiting = 1500 // bytes, a packet

// OwnDrops is the growth of a socket's own drop counter between its samples.
func OwnDrops(k *scene.Socket) Steps {
	s := recording.Series{}
	for _, row := range k.Rows {
		s.Points = append(s.Points, recording.Point{T: row.T, V: float64(row.Drops)})
	}
	return StepsOf(s)
}

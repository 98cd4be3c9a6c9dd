package pcap

import (
	"snag/recording"
)

// Bounds of the rows of single connections.
const (
	maxListed = 192    // connections with rows second by second, at a time
	moreRows  = 10_000 // rows after which the seconds between two of one are doubled
	mostShort = 12_000 // rows after which connections that are younger than lasts have none
	lasts     = 5 * second
)

// listing paces the rows of single connections.
type listing struct {
	now     int    // connections that have them
	rows    uint64 // so far
	every   uint64 // seconds between two rows
	seconds uint64
	refused uint64 // connections that would have had rows
}

func (l *listing) tick() {
	l.seconds++
	if l.rows > moreRows*l.every {
		l.every *= 2
	}
}

// was is what a half had at its last row.
type was struct {
	at                       int64
	packets, resent, synsOld uint64
	fresh                    uint64
	bulk                     uint64 // data packets at the second's beginning
}

// rows writes what one connection did in the second that ends at.
func (a *analysis) rows(c *conn, at int64) {
	for side := range c.half {
		h := &c.half[side]
		if n := h.resent - h.was.resent; n > 0 {
			h.was.resent = h.resent
			a.resentRow(c, side, n, "ESTABLISHED")
		}
		if n := uint64(h.synAgain) - h.was.synsOld; n > 0 {
			h.was.synsOld = uint64(h.synAgain)
			state := "SYN_SENT"
			if side == c.server() {
				state = "SYN_RECV"
			}
			a.resentRow(c, side, n, state)
		}
		if d := &h.hold; d.now > 0 {
			a.cookies(c)
			a.out.Append(recording.Hold{
				T: recording.Time(a.now), Netns: a.netns, Cookie: c.cookie(side), Local: c.addr(side).String(), Remote: c.addr(1 - side).String(),
				Writes: d.writes, Held: d.now, Released: d.now, HoldSum: seconds(d.sum), HoldMax: seconds(d.longest),
			})
			d.now, d.sum, d.longest = 0, 0, 0
		}
		h.hold.writes = 0
	}
	a.list(c, at)
	if !c.listed || a.listing.seconds%a.listing.every != 0 && c.done == 0 {
		return
	}
	for side := range c.half {
		a.socketRow(c, side, at)
	}
}

func (a *analysis) resentRow(c *conn, side int, n uint64, state string) {
	a.out.Append(recording.Retransmit{T: recording.Time(a.now), Netns: a.netns, Local: c.addr(side).String(), Remote: c.addr(1 - side).String(), State: state, N: n})
}

// list decides whether a connection has rows of its own: what lasts, and what has
// trouble. Its first row is as of its beginning.
func (a *analysis) list(c *conn, at int64) {
	if c.listed {
		return
	}
	x, y := &c.half[0], &c.half[1]
	trouble := x.resent+y.resent+x.reordered+y.reordered > 0 || x.limit.zeroInstances+y.limit.zeroInstances > 0 || x.hold.held+y.hold.held > 0
	if at-c.first < second && !trouble || x.fresh+y.fresh == 0 {
		return
	}
	if a.listing.now >= maxListed || a.listing.rows >= mostShort && at-c.first < lasts {
		a.listing.refused++
		return
	}
	c.listed = true
	a.listing.now++
	for side := range c.half {
		h := &c.half[side]
		if h.dataPackets == 0 {
			continue
		}
		row := a.socket(c, side, c.first)
		row.TCP = &recording.TCPInfo{SndMSS: h.segmentSize(&c.half[1-side]), RTT: seconds(c.hand.took()), MinRTT: seconds(c.hand.took())}
		a.out.Append(row)
		a.listing.rows++
		h.was.at = c.first
	}
}

// cookies gives a connection a number of its own: ports are used again.
func (a *analysis) cookies(c *conn) {
	if c.number == 0 {
		a.cookie++
		c.number = a.cookie
	}
}

func (c *conn) cookie(side int) uint64 { return 2*c.number + uint64(side) }

func (a *analysis) socket(c *conn, side int, at int64) recording.Socket {
	a.cookies(c)
	return recording.Socket{
		T: recording.Time(at), Netns: a.netns, Cookie: c.cookie(side), Proto: "tcp", State: c.state(side), Wire: true,
		Local: c.addr(side).String(), Remote: c.addr(1 - side).String(),
	}
}

// state is that of one end, as far as the wire shows it.
func (c *conn) state(side int) string {
	h, p := &c.half[side], &c.half[1-side]
	switch {
	case c.done != 0:
		return "CLOSE"
	case c.hand.syn != 0 && c.hand.synAck == 0:
		return "SYN_SENT"
	case h.fin && p.fin:
		return "TIME_WAIT"
	case h.fin:
		return "FIN_WAIT2"
	case p.fin:
		return "CLOSE_WAIT"
	}
	return "ESTABLISHED"
}

// bulk is how many packets of data a second make a sender of which timestamps tell
// the way back: it answers at once.
const bulk = 20

func (a *analysis) socketRow(c *conn, side int, at int64) {
	h, p := &c.half[side], &c.half[1-side]
	if h.dataPackets == 0 || at <= h.was.at || h.packets == h.was.packets && p.packets == p.was.packets && h.limit.state == unlimited {
		return
	}
	row := a.socket(c, side, at)
	near, nearLeast := h.near(c), h.near(c)
	if h.echo.near.lately > 0 && h.dataPackets-h.was.bulk >= bulk {
		near = h.echo.near.lately
	}
	h.echo.near.lately, h.was.bulk = 0, h.dataPackets
	flight := max(0, int(int32(h.next-h.una))) + h.coming(near, at)
	size := h.segmentSize(p)
	t := &recording.TCPInfo{
		SndMSS: size, Unacked: (flight + size - 1) / size,
		TotalRetrans: int(h.resentSegments), BytesSent: h.bytes, BytesAcked: h.fresh + h.missed - min(h.fresh+h.missed, uint64(flight)),
		BytesReceived: p.fresh, BytesRetrans: h.resentBytes, SegsOut: h.packets, SegsIn: p.packets, DataSegsOut: h.segments, DataSegsIn: p.segments,
		DSACKDups: int(h.needless()), ReordSeen: int(max(h.reordered, h.healed)), RcvOOO: int(p.reordered),
		RwndLimited: seconds(h.limit.total(at)), SndWnd: int(p.window), RcvWnd: int(h.window),
		LastSnd: seconds(at - max(h.lastAt, c.first)), LastAck: seconds(at - max(h.lastAck, c.first)), LastRcv: seconds(at - max(p.lastAt, c.first)),
		Probes: int(h.probes), NoSACK: h.deaf(p),
	}
	if h.rtt.n > 0 {
		t.RTT, t.MinRTT = seconds(h.rtt.smooth+near), seconds(h.rtt.least+nearLeast)
		t.RcvRTT = t.RTT
	}
	if !h.again.fast {
		t.Backoff = int(h.again.backoff)
	}
	row.SendQ = flight
	switch {
	case h.limit.state == windowShut && at-h.limit.since >= second/5:
		row.Timer = "persist"
		row.SendQ = max(flight, 1)
	case flight > 0:
		row.Timer = "on"
	}
	if h.hold.off() {
		on := true
		row.Options = &recording.SocketOptions{NoDelay: &on}
	}
	row.TCP = t
	a.out.Append(row)
	a.listing.rows++
	h.was.at, h.was.packets, p.was.packets = at, h.packets, p.packets
}

// coming is what else is on its way for the sender, bytes: what it sent that has not come
// to the capture, and what it has not heard to have arrived. By the rate of this second,
// and the way between the sender and the capture.
func (h *half) coming(near, at int64) int {
	d := at - h.was.at
	n := h.fresh - h.was.fresh
	h.was.fresh = h.fresh
	if near < 1e6 || d < second/4 || n == 0 {
		return 0
	}
	return int(float64(n) * float64(near) / float64(d))
}

// needless is how many of what was sent again the other end had: it said so, or the
// capture shows that it had acknowledged it before, or that it answered the first; or that
// it can't have taken it, as it lay beyond its window.
func (h *half) needless() uint64 {
	n := h.spurious + h.early + h.overtook + h.outside
	if h.repairs != nil {
		n += h.repairs.twice
	}
	return max(h.duplicates, min(n, h.resent))
}

// deaf reports that the other end can't report what came twice: SACK was not agreed on, or,
// where the handshake was not captured, nothing came of it though it was due.
func (h *half) deaf(p *half) bool {
	if h.sawSYN && p.sawSYN {
		return !h.sackOK || !p.sackOK
	}
	return !h.sacks && h.dupAcks >= 3
}

package sockets

import (
	"hash/maphash"

	"snag/recording"
)

// telling is what of a row must differ for another row to say something. The
// fields that only count the time since are left out.
type telling struct {
	state, timer         string
	recvQ, sendQ         int
	rmem, rcvBuf, sndBuf int
	drops                uint64
	pid                  int
	tcp                  recording.TCPInfo
}

// fingerprint is a hash of what is telling: a history holds one of each socket,
// of which there may be many thousands.
type fingerprint uint64

var seed = maphash.MakeSeed()

func fingerprintOf(s *recording.Socket) fingerprint {
	f := telling{
		state: s.State, timer: s.Timer, recvQ: s.RecvQ, sendQ: s.SendQ,
		rmem: s.Rmem, rcvBuf: s.RcvBuf, sndBuf: s.SndBuf, drops: s.Drops,
	}
	if len(s.Owners) > 0 {
		f.pid = s.Owners[0].PID
	}
	if s.TCP != nil {
		f.tcp = *s.TCP
		f.tcp.LastSnd, f.tcp.LastRcv, f.tcp.LastAck = 0, 0, 0
	}
	return fingerprint(maphash.Comparable(seed, f))
}

// idle reports that nothing waits on the socket: then an unchanged one needs no
// new row. What waits and does not change is the very thing to be recorded.
func idle(s *recording.Socket) bool {
	if s.State == "LISTEN" {
		return s.RecvQ == 0
	}
	return s.RecvQ == 0 && s.SendQ == 0 && (s.Timer == "" || s.Timer == "keepalive")
}

// allowance bounds the rows of sockets: so many at once, so many a second after.
// A row is about 800 bytes, and a recording of 30 s shall stay below 10 MB.
type allowance struct {
	left, most, refill float64
}

func newAllowance() allowance { return allowance{left: 3000, most: 3000, refill: 150} }

func (a *allowance) tick(seconds float64) { a.left = min(a.most, a.left+seconds*a.refill) }

// rowWithin is how many ticks a socket that changed waits for its row. What its rows count are
// running totals, so that a row which comes late misses nothing but what was there between.
const rowWithin = 20

// isLost reports whether a row that the allowance did not allow is one too many: it is once in so
// many ticks, and at the end of the recording.
func (h *history) isLost(tick int, last bool) bool {
	if tick < h.due && !last {
		return false
	}
	h.due = tick + rowWithin
	return true
}

// hasRow notes that a row was written.
func (h *history) hasRow(print fingerprint, tick int) {
	h.written, h.wrote, h.due = print, tick, tick+rowWithin
}

// reserve is what sockets that nobody asked for may not use up.
const reserve = 1000

func (a *allowance) take(level priority) bool {
	if a.left < 1 || (level < wanted && a.left < reserve) {
		return false
	}
	a.left--
	return true
}

package pcap

// limited is how long an end could not send for want of window.
type limited struct {
	state         limitState
	since         int64
	full, zero    int64 // ns so far
	times         uint64
	longest       int64 // of a shut window
	zeroInstances uint64
	more          bool   // data came after a window that was shut
	acks, most    uint64 // that came while the window was full; of these with the largest window
}

// offered notes a window that came while all of the one before it was on its way, beside
// the largest that was offered so far.
func (l *limited) offered(window, largest uint32) {
	if l.state != windowFull {
		return
	}
	l.acks++
	if 8*uint64(window) >= 7*uint64(largest) {
		l.most++
	}
}

type limitState uint8

const (
	unlimited  limitState = iota
	windowFull            // all that was offered is on its way
	windowShut            // nothing is offered
)

// limits looks at what h may send by what p offers.
func (h *half) limits(at int64, p *half) {
	l := &h.limit
	state := unlimited
	if h.begun && p.edged && p.offers && h.known(p) {
		flight := int32(h.next - h.una)
		switch room := int32(p.edge - h.next); {
		case p.window == 0 && !h.fin && !p.fin && h.dataPackets > 0:
			state = windowShut
		case flight > 0 && room < int32(min(h.segmentSize(p), 1460)) && p.window > 0:
			state = windowFull
		}
	}
	if state == l.state {
		return
	}
	l.end(at)
	l.state, l.since = state, at
	switch state {
	case windowShut:
		l.zeroInstances++
	case windowFull:
		l.times++
	}
}

// known reports whether the window's scale is known: both SYNs were seen. A shut window
// is shut in every scale.
func (h *half) known(p *half) bool { return p.window == 0 || h.sawSYN && p.sawSYN }

// end adds what passed since the state began, up to at.
func (l *limited) end(at int64) {
	d := at - l.since
	switch {
	case d <= 0:
		return
	case l.state == windowFull:
		l.full += d
	case l.state == windowShut:
		l.zero += d
		l.longest = max(l.longest, d)
	}
}

// total is how long the window kept the end from sending until at.
func (l *limited) total(at int64) int64 {
	m := *l
	m.end(at)
	return m.full + m.zero
}

package streams

import (
	"time"

	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
)

// A freeze that is shorter holds one look or two at a socket: what moved between two
// looks moved in part before it or after. The ages that the kernel gives with each
// look (tcp_info lastsnd, lastrcv, in ms) tell exactly since when nothing did.
const shortSpan = 2200 * time.Millisecond

const (
	// atOnset is how far from a freeze's onset the last data may lie that went over a
	// connection: a frame's time, a reader that reads now and then, a relay's hand-over.
	atOnset = 350 * time.Millisecond
	// agedEnough: whoever goes on sending while another stands still was heard of within
	// a few frames' time, 0.1 s; a silence that began with the freeze and lasted for this
	// long at the look is its own.
	agedEnough = 250 * time.Millisecond
)

// moveShort is what moved in a short span, by the ages of the looks inside of it.
func (m *reading) moveShort(k *scene.Socket, as side, span recording.Interval, usual float64) {
	rows := measure.TCPRowsOf(k)
	at := -1
	for i, row := range rows {
		if row.T <= span.End {
			at = i
		}
	}
	if at < 0 {
		return
	}
	row, until := rows[at], rows[at].T
	if at+1 < len(rows) && rows[at+1].T.Sub(row.T) > closeLook {
		// A socket that is looked at once a second and has no new row did not change up
		// to the look before its next one.
		until = min(rows[at+1].T.Add(-time.Second), span.End)
	}
	last := row.T.Add(-age(row, as))
	if silent := until.Sub(max(last, span.Start)); silent >= agedEnough && last <= span.Start.Add(atOnset) {
		m.seconds += silent.Seconds()
		m.aged = max(m.aged, silent.Seconds())
		return
	}
	into := row.T.Sub(span.Start)
	if into < agedEnough || at == 0 {
		return // too early in it to tell
	}
	// Data moved: how much since the look before, less what went before the onset.
	prev := rows[at-1]
	before := usual * max(0, span.Start.Sub(prev.T).Seconds())
	since := func(of func(recording.Socket) float64) float64 { return max(0, of(row)-of(prev)-before) }
	m.seconds += into.Seconds()
	m.received += since(func(r recording.Socket) float64 { return float64(r.TCP.BytesReceived) })
	m.taken += since(took)
	m.written += since(wroteBytes)
	m.acked += since(func(r recording.Socket) float64 { return float64(r.TCP.BytesAcked) })
}

// age is how long before the look the last data was sent, or came.
func age(row recording.Socket, as side) time.Duration {
	s := row.TCP.LastRcv
	if as == sends {
		s = row.TCP.LastSnd
	}
	return time.Duration(s * 1e9)
}

package streams

import (
	"fmt"
	"sort"
	"time"

	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
)

// reading is what one end of a connection shows while a stream stood still or came
// late.
type reading struct {
	socket *scene.Socket
	// seen: its rows lie close enough to judge by them what moved in a few seconds.
	seen bool

	least   int // bytes from which they count as waiting
	looks   int // at the socket in that time
	waiting int // at which bytes waited: to be sent, or to be read
	most    int // most bytes that waited
	shut    int // looks with the peer's window shut (timer persist)
	backoff int // most doublings of the retransmission timer

	aged     float64 // for how long nothing had moved at a look in a short freeze, by the kernel's own count, s
	seconds  float64 // over which the following was measured
	received float64 // bytes that came
	taken    float64 // of them and of what lay there, by the process
	written  float64 // bytes that the process wrote
	acked    float64 // bytes that the other end acknowledged
	resent   float64 // segments sent again
	segments float64 // segments with data sent
	limited  float64 // share of the time in which the peer's window held it back
	rtt      float64 // median, s
	shortest float64 // shortest round trip of the connection, s

	usualReceived float64 // bytes per second otherwise
	usualWritten  float64
}

// Of a freeze the first tick inside of it is the first look that belongs to it, as
// rows are written once a second; the last one may fall on the tick at its end.
const (
	fromTick = 1100 * time.Millisecond
	toTick   = 50 * time.Millisecond
	// closeLook is how far apart a socket's rows may lie: those of sockets that are
	// watched come once a second, others every 5 s.
	closeLook = 1600 * time.Millisecond
)

// side of a connection: what waits there is unsent, or unread.
type side bool

const (
	sends    side = true
	receives side = false
)

// readEnd reads one end over those spans of time.
func readEnd(k *scene.Socket, as side, spans []recording.Interval, window recording.Interval) reading {
	m := reading{socket: k}
	if k == nil || k.LastTCP() == nil {
		return m
	}
	m.least = max(measure.LeastWaiting, int(waitsFor*averageRate(k, as)))
	m.usual(k, intervals.Rest(spans, window), window.End)
	var rtts []float64
	for _, span := range spans {
		if span.End == 0 {
			span.End = window.End
		}
		m.seen = m.seen || closely(k, span)
		inner := recording.Interval{Start: span.Start.Add(fromTick), End: span.End.Add(-toTick)}
		short, aged := span.End.Sub(span.Start) < shortSpan, m.aged
		from := measure.Jitter
		if short {
			from = atOnset / 2
		}
		switch {
		case !short:
			m.move(k, inner)
		case as == sends:
			m.moveShort(k, as, span, m.usualWritten)
		default:
			m.moveShort(k, as, span, m.usualReceived)
		}
		n := 0
		for _, row := range k.Rows {
			if row.T >= span.Start.Add(from) && row.T <= span.End.Add(-toTick) && row.TCP != nil {
				m.look(row, as)
				rtts = append(rtts, row.TCP.RTT)
				n++
			}
		}
		if n == 0 && short && as == sends {
			rtts = append(rtts, m.lookBeside(k, span)...)
		} else if n == 0 && inner.End > inner.Start && (!short || m.aged > aged) { // nothing waits and nothing changed: no new row
			if row := measure.RowAt(k, inner.Start); row != nil && row.TCP != nil {
				apart := max(time.Second, inner.End.Sub(inner.Start)/mostStood)
				for t := inner.Start; t <= inner.End; t = t.Add(apart) {
					m.look(*row, as)
				}
				rtts = append(rtts, row.TCP.RTT)
			}
		}
	}
	if m.seconds > 0 {
		m.limited = min(1, max(0, m.limited/m.seconds))
	}
	sort.Float64s(rtts)
	if len(rtts) > 0 {
		m.rtt = rtts[len(rtts)/2]
	}
	m.shortest = k.LastTCP().MinRTT
	return m
}

// freeEnough: a rate over less time holds one look or none.
const freeEnough = 1.5 // s

// usual is what moves a second otherwise.
func (m *reading) usual(k *scene.Socket, free []recording.Interval, end recording.Time) {
	rate := func(of func(recording.Socket) float64) float64 {
		if n, s := measure.MovedIn(k, free, end, of); s >= freeEnough {
			return n / s
		}
		return usualGrowth(k, of)
	}
	m.usualReceived = rate(func(row recording.Socket) float64 { return float64(row.TCP.BytesReceived) })
	m.usualWritten = rate(wroteBytes)
}

const waitsFor = 0.1 // s

// averageRate is what went over a socket in that direction, bytes per second.
func averageRate(k *scene.Socket, as side) float64 {
	rows := measure.TCPRowsOf(k)
	a, b := rows[0], rows[len(rows)-1]
	seconds := b.T.Sub(a.T).Seconds()
	switch {
	case seconds <= 0:
		return 0
	case as == sends:
		return max(0, wroteBytes(b)-wroteBytes(a)) / seconds
	}
	return max(0, float64(b.TCP.BytesReceived)-float64(a.TCP.BytesReceived)) / seconds
}

// lookBeside looks at a sender just before a short freeze and just after it, where there is no look
// inside: where far more waited at both than is in flight, it waited in between.
func (m *reading) lookBeside(k *scene.Socket, span recording.Interval) (rtts []float64) {
	var before, after *recording.Socket
	for i := range k.Rows {
		switch row := &k.Rows[i]; {
		case row.TCP == nil || row.T < span.Start.Add(-closeLook) || row.T > span.End.Add(closeLook):
		case row.T < span.Start.Add(fromTick/2):
			before = row
		case row.T > span.End.Add(-2*toTick) && after == nil:
			after = row
		}
	}
	much := max(float64(m.least), behindFor*m.usualWritten)
	if before == nil || after == nil || float64(min(before.SendQ, after.SendQ)) < much {
		return nil
	}
	m.look(*before, sends)
	m.look(*after, sends)
	return []float64{before.TCP.RTT, after.TCP.RTT}
}

// behindFor is how much of a stream waits where its sender is behind, s.
const behindFor = 0.5

func (m *reading) look(row recording.Socket, as side) {
	m.looks++
	waits := row.RecvQ
	if as == sends {
		waits = row.SendQ
	}
	if waits >= m.least {
		m.waiting++
		m.most = max(m.most, waits)
	}
	if row.Timer == "persist" {
		m.shut++
	}
	m.backoff = max(m.backoff, row.TCP.Backoff)
}

func (m *reading) move(k *scene.Socket, inner recording.Interval) {
	if first := k.Rows[0].T; first > inner.Start && first < inner.End {
		inner.Start = first // it was opened meanwhile, or found
	}
	a, b := measure.RowAt(k, inner.Start), measure.RowAt(k, inner.End)
	if a == nil || b == nil || a.TCP == nil || b.TCP == nil || inner.End <= inner.Start {
		return
	}
	grown := func(of func(recording.Socket) float64) float64 { return max(0, of(*b)-of(*a)) }
	m.seconds += inner.End.Sub(inner.Start).Seconds()
	m.received += grown(func(r recording.Socket) float64 { return float64(r.TCP.BytesReceived) })
	m.taken += grown(func(r recording.Socket) float64 { return float64(r.TCP.BytesReceived) - float64(r.RecvQ) })
	m.written += grown(wroteBytes)
	m.acked += grown(func(r recording.Socket) float64 { return float64(r.TCP.BytesAcked) })
	m.resent += grown(func(r recording.Socket) float64 { return float64(r.TCP.TotalRetrans) })
	m.segments += grown(func(r recording.Socket) float64 { return float64(r.TCP.DataSegsOut) })
	m.limited += grown(func(r recording.Socket) float64 { return r.TCP.RwndLimited })
}

// wroteBytes is what a process has written so far: acknowledged, or waiting still.
func wroteBytes(row recording.Socket) float64 {
	return float64(row.TCP.BytesAcked) + float64(row.SendQ)
}

// closely reports whether a socket was looked at once a second when a span of time
// began. One that flows then has a row of that second, and one that stands still has
// none: rows are written of what changes, once a second of what is watched, which
// two rows a second apart show, and every 5 s of all else.
func closely(k *scene.Socket, span recording.Interval) bool {
	rows := measure.TCPRowsOf(k)
	if !watchedOnce(k) {
		return len(rows) >= 2 && measure.MovedBytes(rows[0]) == measure.MovedBytes(rows[len(rows)-1])
	}
	var before, after *recording.Socket
	for i := range rows {
		switch at := rows[i].T; {
		case at >= span.Start.Add(-2*closeLook) && at <= span.Start.Add(fromTick):
			return true
		case at < span.Start:
			before = &rows[i]
		case after == nil:
			after = &rows[i]
		}
	}
	return before != nil && after != nil && measure.MovedBytes(*before) == measure.MovedBytes(*after)
}

// watchedOnce reports whether two rows of a socket lie a second apart.
func watchedOnce(k *scene.Socket) bool {
	rows := measure.TCPRowsOf(k)
	for i := 1; i < len(rows); i++ {
		if apart := rows[i].T.Sub(rows[i-1].T); apart >= time.Second-closeLook/4 && apart <= closeLook {
			return true
		}
	}
	return false
}

// mostly is the share of looks at which bytes wait, from which they wait all the
// time: at a connection that flows a look finds some in flight now and then.
const mostly = 0.6

// waits reports whether bytes waited at this end most of the time.
func (m reading) waits() bool {
	return m.looks > 0 && float64(m.waiting) >= mostly*float64(m.looks)
}

// Of a usual rate less than little is nothing to speak of (the audio beside a
// picture that stands, a report); half of it and more goes on.
const (
	little  = 0.2
	goingOn = 0.5
	// chatter is what a server says on a connection that carries no stream: pings, a status.
	chatter = 100.0 // bytes per second
)

// wroteLittle reports whether the process wrote next to nothing.
func (m reading) wroteLittle() bool {
	return m.seen && m.seconds > 0 && m.written <= max(little*m.usualWritten, chatter)*m.seconds
}

// cameLittle reports whether next to nothing arrived.
func (m reading) cameLittle() bool {
	return m.seen && m.seconds > 0 && m.received <= little*m.usualReceived*m.seconds
}

// windowShut reports whether the other end did not let it send.
func (m reading) windowShut() bool {
	return m.waits() && (2*m.shut >= m.looks || m.limited >= 0.5)
}

// behind reports whether more waited than a reader that keeps up leaves there between
// two reads: half a second of the stream.
func (m reading) behind() bool { return m.waits() && float64(m.most) >= 5*float64(m.least) }

// unread reports whether data lay there that the process did not take: while it takes
// some it is slow, and not stopped.
func (m reading) unread() bool {
	return m.waits() && (m.seconds == 0 || m.taken <= little*max(m.usualReceived, 1)*m.seconds)
}

// lookedAt is the samples in which it waited, in words: "in 4 of 4 samples".
func (m reading) lookedAt() string { return fmt.Sprintf("in %d of %d samples", m.waiting, m.looks) }

// mostStood looks are taken at one row that stood for a long time.
const mostStood = 100_000

package streams

import (
	"time"

	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
)

// stillFor is the least pause of a connection that a viewer feels.
const stillFor = time.Second

// stillIn are the times inside of a span in which the process that receives on a
// socket took next to nothing: it did not come, or lay there. usual is what it takes
// otherwise, bytes per second.
func stillIn(k *scene.Socket, span recording.Interval, usual float64) []recording.Interval {
	if k == nil {
		return nil
	}
	rows := measure.TCPRowsOf(k)
	var out []recording.Interval
	add := func(i recording.Interval) {
		if i.Start, i.End = max(i.Start, span.Start), min(i.End, span.End); i.End > i.Start {
			out = append(out, i)
		}
	}
	for i, b := range rows {
		if i == 0 {
			continue
		}
		a := rows[i-1]
		apart := b.T.Sub(a.T)
		since := a.T
		if a.RecvQ == 0 {
			since = max(a.T.Add(-age(a, receives)), since.Add(-time.Second))
		}
		switch {
		case took(b)-took(a) <= little*usual*apart.Seconds():
			add(recording.Interval{Start: since, End: b.T})
		case apart > closeLook: // no row: nothing changed up to the look before this one
			add(recording.Interval{Start: since, End: b.T.Add(-time.Second)})
		}
	}
	if n := len(rows); n > 0 && span.End.Sub(rows[n-1].T) > closeLook {
		add(recording.Interval{Start: rows[n-1].T, End: span.End})
	}
	var long []recording.Interval
	for _, i := range intervals.Merge(out, 0) {
		if i.End.Sub(i.Start) >= stillFor {
			long = append(long, i)
		}
	}
	return long
}

// took is what a process has read of a connection so far.
func took(row recording.Socket) float64 { return float64(row.TCP.BytesReceived) - float64(row.RecvQ) }

// usualGrowth is what a running total of a socket grows by in a second in which it does:
// the median over such steps. The best that can be had where a stream stood still for
// most of a recording, or again and again.
func usualGrowth(k *scene.Socket, of func(recording.Socket) float64) float64 {
	if k == nil {
		return 0
	}
	var moved []recording.Socket
	rows := measure.TCPRowsOf(k)
	rate := map[recording.Time]float64{}
	for i := 1; i < len(rows); i++ {
		seconds := rows[i].T.Sub(rows[i-1].T).Seconds()
		if n := of(rows[i]) - of(rows[i-1]); n > 0 && seconds > 0.5 && seconds < 2*closeLook.Seconds() {
			rate[rows[i].T] = n / seconds
			moved = append(moved, rows[i])
		}
	}
	return measure.Median(moved, func(row recording.Socket) float64 { return rate[row.T] })
}

// spansAt are the times at which a fault is looked for at a connection. What a viewer
// suffers comes later than its cause where something is held on the way (a segment of
// HLS, the wait for a key frame): then the pauses of the connection itself, in that time
// and the delay before it; where it has none, all of it.
func (f *faulty) spansAt(l scene.Link) []recording.Interval {
	if !f.delayed || l.To == nil || l.To.LastTCP() == nil {
		return f.felt
	}
	var out []recording.Interval
	usual := usualGrowth(l.To, took)
	for _, span := range f.felt {
		span.Start = f.stream.Since(span)
		var still []recording.Interval
		if f.link > 0 { // to the viewer nothing goes in all of it
			still = stillIn(l.To, span, usual)
		}
		if len(still) == 0 {
			still = []recording.Interval{span}
		}
		out = append(out, still...)
	}
	return intervals.Merge(out, 0)
}

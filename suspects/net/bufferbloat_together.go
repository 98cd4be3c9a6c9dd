package net

import (
	"fmt"
	"slices"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// A queue that is measured on this host needs no round trip as long as one that is only inferred:
// so much of it is noticed by who crosses it, s.
const shortQueue = measure.Bloated / 2

// together are connections on one way that fill a queue only all together: each has a few segments
// in flight, and waits as long as the others. It returns one for each way.
func together(all []queued) (out []queued) {
	var ways [][]queued
	for _, q := range all {
		i := slices.IndexFunc(ways, func(w []queued) bool { return sameWay(w[0].socket.First(), q.socket.First()) })
		if i < 0 {
			ways, i = append(ways, nil), len(ways)
		}
		ways[i] = append(ways[i], q)
	}
	for _, w := range ways {
		if len(w) < 2 || slices.ContainsFunc(w, queued.fills) {
			continue
		}
		if q, ok := oneOf(w); ok && q.fills() {
			out = append(out, q)
		}
	}
	return out
}

// oneOf adds up connections of one way at each moment at which their sockets were read.
func oneOf(way []queued) (queued, bool) {
	sum := queued{socket: way[0].socket}
	moments := map[recording.Time][]recording.Socket{}
	for _, q := range way {
		sum.members = append(sum.members, q.socket)
		for _, row := range measure.TCPRowsOf(q.socket) {
			moments[row.T] = append(moments[row.T], row)
		}
		sum.lost, sum.sent = sum.lost+q.lost, sum.sent+q.sent
		if q.sent > way[0].sent {
			sum.socket = q.socket
		}
	}
	times := make([]recording.Time, 0, len(moments))
	for t := range moments {
		times = append(times, t)
	}
	slices.Sort(times)
	var long []recording.Socket
	var flying []float64
	for i, t := range times {
		segments, bytes, stretched := 0.0, 0.0, []recording.Socket(nil)
		for _, row := range moments[t] {
			k := row.TCP
			segments, bytes = segments+float64(k.Unacked), bytes+float64(k.Unacked*k.SndMSS)
			if k.Unacked > 0 && k.RTT-k.MinRTT >= shortQueue && k.RTT >= measure.BloatedTimes*k.MinRTT && k.MinRTT > 0 {
				stretched = append(stretched, row)
			}
		}
		if segments == 0 { // nobody sends at this moment
			continue
		}
		sum.all++
		if segments < fullPipe {
			continue
		}
		sum.full++
		if 2*len(stretched) < len(moments[t]) {
			continue
		}
		sum.stretched++
		if i > 0 {
			sum.active = append(sum.active, recording.Interval{Start: times[i-1], End: t})
		}
		if sum.during.Start == 0 {
			sum.during.Start = t
		}
		sum.during.End = t
		long, flying = append(long, stretched...), append(flying, bytes)
	}
	if sum.stretched < 2 {
		return sum, false
	}
	slices.Sort(flying)
	sum.active = intervals.Merge(sum.active, measure.Joined)
	sum.rtt = measure.Median(long, func(s recording.Socket) float64 { return s.TCP.RTT })
	sum.shortest = measure.Median(long, func(s recording.Socket) float64 { return s.TCP.MinRTT })
	sum.inFlight = flying[len(flying)/2]
	for _, q := range way {
		sum.rate += ackedIn(q.socket, sum.during)
	}
	return sum, sum.rate > 0
}

// ackedIn is how fast a connection's data were acknowledged in a time, bytes/s.
func ackedIn(k *scene.Socket, span recording.Interval) float64 {
	var a, b *recording.Socket
	for _, row := range measure.TCPRowsOf(k) {
		if row.T < span.Start || row.T > span.End {
			continue
		}
		if a == nil {
			a = &row
		}
		b = &row
	}
	if a == nil || b.T == a.T {
		return 0
	}
	return float64(b.TCP.BytesAcked-a.TCP.BytesAcked) / span.End.Sub(span.Start).Seconds()
}

// findingTogether names the queue of this host that several connections keep full; false where no queue of
// this host holds what waits.
func (q queued) findingTogether(s *scene.Scene, r *recording.Recording) (suspect.Finding, bool) {
	owner, held, ok := q.heldBy(s, r)
	if !ok {
		return suspect.Finding{}, false
	}
	remote := recording.Host(q.socket.First().Remote)
	f := suspect.Finding{Active: q.active,
		Text: fmt.Sprintf("the round trip to %s is %s against %s when nothing waits: %s together keep a queue of %s on the way full", remote, units.Lasting(q.rtt), units.Lasting(q.shortest),
			units.Plural(len(q.members), "connection"), units.Bytes(q.rate*q.extra())),
		Harm: suspect.Harm{Symptom: scene.RequestLatency, Amount: q.extra(), Unit: "s", Text: fmt.Sprintf("each packet to %s waits %s longer", remote, units.Lasting(q.extra()))}}
	f.Evidence = []suspect.Evidence{held, {Side: suspect.For, Grade: suspect.Strong, Value: q.extra(), Unit: "s", Source: source.SS("-tin", source.RTT, source.MinRTT, source.Word("unacked")), Origin: "rtt",
		Text: fmt.Sprintf("round trip %s against the shortest of %s, and %s in flight on %s, in %d of %d samples", units.Lasting(q.rtt), units.Lasting(q.shortest), units.Bytes(q.inFlight), units.Plural(len(q.members), "connection"), q.stretched, q.all)}}
	for _, k := range q.members[:min(len(q.members), measure.MostRelated)] {
		f.Related = append(f.Related, k.Subject)
	}
	q.shorten(s, r, owner, &f)
	return f, true
}

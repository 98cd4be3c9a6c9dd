package net

import (
	"fmt"
	"math"
	"slices"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// alsoWaiting are other connections that leave by the same way, or go to the
// same place, and wait about as long without filling it themselves.
func (q queued) alsoWaiting(all []queued) (suspect.Evidence, []recording.Subject) {
	var who []recording.Subject
	most := 0.0
	for _, o := range all {
		if o.socket == q.socket || !sameWay(o.socket.First(), q.socket.First()) || o.extra() < 0.5*q.extra() {
			continue
		}
		most = max(most, o.extra())
		if len(who) < measure.MostRelated {
			who = append(who, o.socket.Subject)
		}
	}
	if len(who) == 0 {
		return suspect.Evidence{}, nil
	}
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: most, Unit: "s", Source: source.SS("-tin", source.RTT, source.MinRTT), Origin: "other connections",
		Text: fmt.Sprintf("%s on the same way waited up to %s longer than the way takes as well", units.Plural(len(who), "other connection"), units.Lasting(most))}, who
}

func sameWay(a, b recording.Socket) bool {
	return a.Netns == b.Netns && (recording.Host(a.Remote) == recording.Host(b.Remote) || recording.Host(a.Local) == recording.Host(b.Local))
}

// heldBy is the queue of this host that holds what waits: its backlog takes as
// long to leave as the round trip is too long. Two counters of two places that
// agree: the queue's bytes, and the sender's clock.
func (q queued) heldBy(s *scene.Scene, r *recording.Recording) (leaf, suspect.Evidence, bool) {
	for _, l := range leafQdiscs(r) {
		backlog, ok := l.held(r, q.during)
		rate, ok2 := l.rate(r, q.during)
		if !ok || !ok2 || rate < 0.8*q.rate || backlog <= 0 {
			continue
		}
		takes := backlog / rate
		// The round trip is a running mean, which stays behind a queue that grows or drains.
		if math.Abs(takes-q.extra()) > 0.35*max(takes, q.extra()) {
			continue
		}
		return l, suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: backlog, Unit: "B", Origin: "qdisc",
			Source: source.Qdisc.As(remedy.InNetns(s, l.device.Netns, "tc -s qdisc show dev "+l.device.Device)),
			Text: fmt.Sprintf("%s %s on %s held %s and sent %s/s: %s of waiting; the round trip of %s was too long by %s",
				l.kind, l.handle, l.device.Device, units.Bytes(backlog), units.Bytes(rate), units.Lasting(takes), recording.Host(q.socket.First().Remote), units.Lasting(q.extra()))}, true
	}
	return leaf{}, suspect.Evidence{}, false
}

// held is the median backlog of a queue in that time, bytes.
func (l leaf) held(r *recording.Recording, span recording.Interval) (float64, bool) {
	series, ok := measure.Counter(r, l.device.Netns, "node_qdisc_backlog", "device", l.device.Device, "handle", l.handle, "parent", l.parent)
	if !ok {
		return 0, false
	}
	var seen []float64
	for _, p := range series.Points {
		if p.T >= span.Start && p.T <= span.End {
			seen = append(seen, p.V)
		}
	}
	if len(seen) == 0 {
		return 0, false
	}
	slices.Sort(seen)
	return seen[len(seen)/2], true
}

// rate is what a queue sent in that time, bytes per second.
func (l leaf) rate(r *recording.Recording, span recording.Interval) (float64, bool) {
	series, ok := measure.Counter(r, l.device.Netns, "node_qdisc_bytes_total", "device", l.device.Device, "handle", l.handle, "parent", l.parent)
	if !ok {
		return 0, false
	}
	n, _ := measure.StepsOf(series).Between(span)
	d := span.End.Sub(span.Start).Seconds()
	return n / d, d > 0 && n > 0
}

// oneForEach keeps, of the findings on one queue, the first, and puts the
// connections of the others beside it.
func oneForEach(all []suspect.Finding) []suspect.Finding {
	at := map[scene.NodeID]int{}
	var out []suspect.Finding
	for _, f := range all {
		id := scene.IDOf(f.Subject)
		i, seen := at[id]
		if !seen {
			at[id] = len(out)
			out = append(out, f)
			continue
		}
		out[i].Related = append(out[i].Related, f.Related...)
		out[i].Active = intervals.Merge(append(out[i].Active, f.Active...), measure.Joined)
	}
	return out
}

package suspects

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"snag/recording"
	"snag/scene"
)

// alsoWaiting are other connections that leave by the same way, or go to the
// same place, and wait about as long without filling it themselves.
func (q queued) alsoWaiting(all []queued) (Evidence, []recording.Subject) {
	var who []recording.Subject
	most := 0.0
	for _, o := range all {
		if o.socket == q.socket || !sameWay(o.socket.First(), q.socket.First()) || o.extra() < 0.5*q.extra() {
			continue
		}
		most = max(most, o.extra())
		if len(who) < mostRelated {
			who = append(who, o.socket.Subject)
		}
	}
	if len(who) == 0 {
		return Evidence{}, nil
	}
	return Evidence{Side: For, Grade: Strong, Value: most, Unit: "s", Source: "ss -tin rtt, minrtt", Origin: "other connections",
		Text: fmt.Sprintf("%s on the same way waited up to %s longer than the way takes as well", plural(len(who), "other connection"), lasting(most))}, who
}

func sameWay(a, b recording.Socket) bool {
	return a.Netns == b.Netns && (recording.Host(a.Remote) == recording.Host(b.Remote) || recording.Host(a.Local) == recording.Host(b.Local))
}

// heldBy is the queue of this host that holds what waits: its backlog takes as
// long to leave as the round trip is too long. Two counters of two places that
// agree: the queue's bytes, and the sender's clock.
func (q queued) heldBy(s *scene.Scene, r *recording.Recording) (leaf, Evidence, bool) {
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
		return l, Evidence{Side: For, Grade: Decisive, Value: backlog, Unit: "B", Origin: "qdisc",
			Source: inNetns(s, l.device.netns, "tc -s qdisc show dev "+l.device.device),
			Text: fmt.Sprintf("%s %s on %s held %s and sent %s/s: %s of waiting; the round trip of %s was too long by %s",
				l.kind, l.handle, l.device.device, size(backlog), size(rate), lasting(takes), recording.Host(q.socket.First().Remote), lasting(q.extra()))}, true
	}
	return leaf{}, Evidence{}, false
}

// held is the median backlog of a queue in that time, bytes.
func (l leaf) held(r *recording.Recording, span recording.Interval) (float64, bool) {
	series, ok := counter(r, l.device.netns, "node_qdisc_backlog", "device", l.device.device, "handle", l.handle, "parent", l.parent)
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

// rate is what a queue sent in that time, bytes a second.
func (l leaf) rate(r *recording.Recording, span recording.Interval) (float64, bool) {
	series, ok := counter(r, l.device.netns, "node_qdisc_bytes_total", "device", l.device.device, "handle", l.handle, "parent", l.parent)
	if !ok {
		return 0, false
	}
	n, _ := stepsOf(series).between(span)
	d := span.End.Sub(span.Start).Seconds()
	return n / d, d > 0 && n > 0
}

// lineRate writes a rate as a line's speed.
func lineRate(bytesPerSecond float64) string {
	return strconv.FormatFloat(bytesPerSecond*8e-6, 'f', 1, 64) + " Mbit/s"
}

// oneForEach keeps, of the findings on one queue, the first, and puts the
// connections of the others beside it.
func oneForEach(all []Finding) []Finding {
	at := map[scene.NodeID]int{}
	var out []Finding
	for _, f := range all {
		id := scene.IDOf(f.Subject)
		i, seen := at[id]
		if !seen {
			at[id] = len(out)
			out = append(out, f)
			continue
		}
		out[i].Related = append(out[i].Related, f.Related...)
		out[i].Active = mergeIntervals(append(out[i].Active, f.Active...), joined)
	}
	return out
}

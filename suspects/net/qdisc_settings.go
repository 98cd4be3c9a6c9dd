package net

import (
	"fmt"
	"math"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/suspect"
)

// headroom over what was measured: the next window may hold a little more.
const headroom = 1.25

// offer is what was sent to a qdisc while it dropped.
type offer struct {
	packet     float64 // mean size, bytes; 0 where bytes were not counted
	mean, peak float64 // bytes per second offered, what was dropped included
	burst      float64 // packets dropped in the worst second
	always     bool    // it dropped in nearly every second of its time: no burst
}

func (l leaf) offered(r *recording.Recording) (o offer) {
	bytes, packets := l.steps(r, "node_qdisc_bytes_total"), l.steps(r, "node_qdisc_packets_total")
	if n := packets.Sum(); n > 0 {
		o.packet = bytes.Sum() / n
	}
	sent := map[recording.Interval]float64{}
	for _, b := range bytes {
		sent[b.Interval] = b.N
	}
	total, length, bad, first, last := 0.0, 0.0, 0, -1, 0
	for i, d := range l.drops {
		seconds := d.Length(d.End).Seconds()
		if d.N == 0 || seconds <= 0 {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
		bad++
		o.burst = max(o.burst, d.N/seconds)
		all := sent[d.Interval] + d.N*o.packet
		o.peak = max(o.peak, all/seconds)
		total, length = total+all, length+seconds
	}
	if length > 0 {
		o.mean = total / length
	}
	o.always = bad >= 5 && float64(bad) >= 0.9*float64(last-first+1)
	return o
}

func (l leaf) steps(r *recording.Recording, name string) measure.Steps {
	s, ok := measure.Counter(r, l.device.Netns, name, "device", l.device.Device, "handle", l.handle, "parent", l.parent)
	if !ok {
		return nil
	}
	return measure.StepsOf(s)
}

// row is how the leaf was set; nil where that was not read.
func (l leaf) row(s *scene.Scene) *recording.Qdisc {
	for _, q := range s.Qdiscs {
		if q.Row.Netns == l.device.Netns && q.Row.Device == l.device.Device && q.Row.Handle == l.handle && (q.Row.Parent == l.parent || l.parent == "") {
			return &q.Row
		}
	}
	return nil
}

// roundUp to two digits that count: a plan is read by people.
func roundUp(v float64) float64 {
	unit := math.Pow(10, math.Max(0, math.Floor(math.Log10(max(1, v)))-1))
	return math.Ceil(v/unit) * unit
}

func (l leaf) setting(name string, value float64) suspect.Setting {
	parent := l.parent
	if parent == "" {
		parent = "root"
	}
	return suspect.Setting{Kind: "qdisc", Name: name, AtLeast: true, At: suspect.OnDevice(l.device.Netns, l.device.Device), Parent: parent, Value: fmt.Sprintf("%.0f", value)}
}

// qdiscSettings: a shaper that gets more than its rate needs the rate; a queue that
// only bursts overrun needs their length. A queue that always overruns would only make
// packets wait, and what an AQM drops it drops on purpose.
func qdiscSettings(s *scene.Scene, r *recording.Recording, l leaf, to []recording.Subject) (set []suspect.Setting, calls []suspect.Call) {
	q, o := l.row(s), l.offered(r)
	rate, _, shaped := q.Option("rate")
	limit, unit, _ := q.Option("limit")
	longer := func(change suspect.Setting, now, more float64, what string) {
		want := roundUp(now + headroom*more)
		change.Value = fmt.Sprintf("%.0f", want)
		change.Why = fmt.Sprintf("the busiest second had %s packets more than the queue of %s %s held: %s + %.2f × %s", units.Count(o.burst), units.Count(now), what, units.Count(now), headroom, units.Count(more))
		change.Risk = "memory, and packets that wait longer where more comes than goes out"
		if what == "bytes" && rate > 0 {
			change.Risk = fmt.Sprintf("a full queue makes packets wait up to %s", units.Lasting(8*want/rate))
		}
		set = append(set, change)
	}
	switch {
	case l.kind == "tbf" && shaped && rate > 0 && o.packet > 0 && 8*o.mean > 0.95*rate:
		faster := roundUp(headroom * 8 * o.peak)
		change := l.setting("rate", faster)
		change.Why = fmt.Sprintf("%s were sent to it in the busiest second in which it dropped, %s on average, and its rate is %s: %.2f × the worst", units.LineRate(o.peak), units.LineRate(o.mean), units.LineRate(rate/8), headroom)
		change.Risk = "if the rate is that of a link further on, the loss only moves there"
		change.Group = "rate"
		set = append(set, change)
		// What comes in a burst still meets the queue, which the new rate empties no slower.
		if want := roundUp(longestWait * faster / 8); unit == "b" && limit < want {
			change = l.setting("limit", want)
			change.Why = fmt.Sprintf("%s hold %.0f ms at the new rate: bursts within a second were not measured, and %.0f ms of it cover those of a sender that is woken late", units.Count(limit)+" bytes", 8000*limit/faster, 1000*longestWait)
			change.Risk, change.Group = fmt.Sprintf("a full queue makes packets wait up to %.0f ms", 1000*longestWait), "rate"
			set = append(set, change)
		}
	case o.burst == 0, o.always && !shaped:
	case l.kind == "tbf" && unit == "b" && o.packet > 0:
		longer(l.setting("limit", 0), limit, o.burst*o.packet, "bytes")
	case l.kind == "bfifo" && unit == "b" && o.packet > 0:
		longer(l.setting("limit", 0), limit, o.burst*o.packet, "bytes")
	case (l.kind == "pfifo" || l.kind == "fq" || l.kind == "sfq") && unit == "p":
		longer(l.setting("limit", 0), limit, o.burst, "packets")
	}
	pace := "fewer bytes per second than the queue lets through"
	if rate > 0 {
		pace = fmt.Sprintf("%.0f", 0.95*rate/8)
	}
	for _, sub := range to[:min(len(to), 2)] {
		do := fmt.Sprintf("setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, %s)", pace)
		if sub.Proto == "udp" {
			do += " with fq on the interface, or sleep between the datagrams of a burst: UDP is not paced elsewhere"
		}
		calls = append(calls, suspect.Call{Who: suspect.WhoseCall(sub), Do: do, Why: fmt.Sprintf("%s %s on %s drops what it sends at once", l.kind, l.handle, l.device.Device)})
	}
	return set, calls
}

// fqSettings lengthen every fq below the same mq, to what the worst second had in
// excess: a flow meets the one that its hash or its CPU chose.
func fqSettings(s *scene.Scene, l leaf, limited measure.Steps) (set []suspect.Setting) {
	now, _, ok := l.row(s).Option("flow_limit")
	if !ok {
		now = 100 // the default (net/sched/sch_fq.c, fq_init)
	}
	worst := 0.0
	for _, d := range limited {
		if seconds := d.Length(d.End).Seconds(); seconds > 0 {
			worst = max(worst, d.N/seconds)
		}
	}
	if worst == 0 {
		return nil
	}
	want := roundUp(now + headroom*worst)
	add := func(at leaf, whole float64) {
		change := at.setting("flow_limit", want)
		change.Why = fmt.Sprintf("one flow had up to %s packets more than flow_limit %s in a second: %s + %.2f × %s", units.Count(worst), units.Count(now), units.Count(now), headroom, units.Count(worst))
		change.Risk, change.Group = "the flow's packets wait in the queue where it sends faster than it is let out", "flow_limit"
		set = append(set, change)
		if whole > 0 && whole < want {
			change = at.setting("limit", want)
			change.Why = fmt.Sprintf("the whole queue holds %s packets, fewer than the flow needs", units.Count(whole))
			change.Group = "flow_limit"
			set = append(set, change)
		}
	}
	for _, q := range s.Qdiscs {
		if q.Row.Kind == "fq" && q.Row.Device == l.device.Device && q.Row.Netns == l.device.Netns {
			whole, _, _ := q.Row.Option("limit")
			add(leaf{device: l.device, kind: "fq", handle: q.Row.Handle, parent: q.Row.Parent}, whole)
		}
	}
	if len(set) == 0 {
		add(l, 0)
	}
	return set
}

// longestWait in a queue that is proposed, s: what an RTT within a continent takes, so
// that a loss-based sender still fills the line (RFC 8289, section 4.3, has 100 ms for
// the whole way).
const longestWait = 0.05

// shortestQueue that is proposed, packets of 1,500 bytes: of a few in flight a sender tells
// a loss by acknowledgements only where some come after it (RFC 5681, fast retransmit).
const shortestQueue = 10

// shorterQueue cuts a queue to what leaves in longestWait at the rate measured.
func shorterQueue(s *scene.Scene, r *recording.Recording, l leaf, rate float64) []suspect.Setting {
	q, o := l.row(s), l.offered(r)
	now, unit, _ := q.Option("limit")
	want := max(roundUp(rate*longestWait), 1500*shortestQueue)
	if unit == "p" {
		want = max(roundUp(rate*longestWait/max(o.packet, 1)), shortestQueue)
	}
	if unit == "" || unit == "p" && o.packet == 0 || want >= now || l.kind != "pfifo" && l.kind != "bfifo" && l.kind != "tbf" {
		return nil
	}
	change := l.setting("limit", want)
	change.AtLeast = false
	change.Why = fmt.Sprintf("%s leave in a second: %.0f ms of that are %s, and it holds up to %s", units.Bytes(rate), 1000*longestWait, units.Bytes(rate*longestWait), fmt.Sprintf("%.0f", now)+map[string]string{"p": " packets", "b": " bytes"}[unit])
	change.Risk = "bursts that are longer are dropped in place of delayed; fq_codel in its place would tell the two apart"
	return []suspect.Setting{change}
}

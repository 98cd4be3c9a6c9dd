package net

import (
	"fmt"
	"math"
	"slices"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var bufferbloat = &suspect.Suspect{
	Name:  "bufferbloat",
	Title: "a deep queue on the way, kept full",
	About: "A sender that fills the path keeps a deep queue at its narrowest place full, and everybody who crosses it waits: the round trip is a multiple of what the path itself takes, and nothing is lost. A long path has a long shortest round trip as well; a delayed ACK shows a long round trip with hardly anything in flight.",
	Needs: []suspect.Need{
		{Measure: "sockets.diag", Must: true, Why: "round trip, shortest round trip and bytes in flight of each connection"},
		{Measure: "host.qdisc", Must: false, Why: "the queues of this host: which of them holds the backlog"},
		{Measure: "sockets.retransmits", Must: false, Why: "that hardly anything is lost"},
	},
	For: []string{
		"decisive: a queue of this host holds as much data as explains the extra round-trip time at its sending rate",
		"strong: the round trip is a multiple of the shortest one while the connection keeps the pipe full and loses nothing",
		"strong: more is in flight than the path holds, and the rest, at the rate of the connection, takes as long as the round trip is too long",
		"strong: other connections on the same way wait as long",
		"decisive: several connections that fill the pipe only together wait as long as a queue of this host takes to send what it holds",
		"strong: by captures of both ends: the network took half of the late requests' wait or more, a multiple of what it takes else, and lost next to nothing; which way, as far as the clocks show",
	},
	Against: []string{
		"decisive: the shortest round trip is as long: a long path",
		"decisive: hardly anything is in flight: a delayed ACK or a busy peer, no queue",
		"strong: one client of a server with many others that fare well: its own line, a risk and no more",
		"trap: the shortest round trip is kept for 5 minutes: a queue that never emptied in them looks like a long path",
	},
	InFiles: map[string][]string{"sockets.diag": {"pcap.flows"}},
	LeadsTo: []suspect.Lead{{To: "qdisc-drop", Lag: 5 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.ConnectLatency, Lag: 5 * time.Second}, {To: scene.StreamLate, Lag: 5 * time.Second}},
	Claims:  []ledger.Account{ledger.Queue},
	Remedy: suspect.Remedy{
		Now:         "tc qdisc change dev DEVICE root pfifo limit PACKETS",
		Permanently: "A short queue at the narrowest place: fq_codel, or cake with a bandwidth just under the line's, in the .network file or the unit that sets the queue. Or net.ipv4.tcp_congestion_control = bbr at the sender, in /etc/sysctl.d.",
		Program:     "Pace what is sent (SO_MAX_PACING_RATE).",
	},
	Verified: "the round trip falls to the shortest one at the same throughput",
	Next:     "ss -tin state established; tc -s qdisc; mtr or ping along the path while it is loaded",
	Weigh:    weighBufferbloat,
}

// fullPipe is the least segments in flight: the receiver acknowledges every
// second one at once, so that a delayed ACK never holds up so many.
const fullPipe = 10

// lossBesides of what a queue's full sender sends may be lost: a queue that ends
// tells so by a loss now and then.
const lossBesides = 0.02

// queued is one connection that waits in a queue, or seems to.
type queued struct {
	socket               *scene.Socket
	rtt, shortest        float64 // s
	inFlight, rate       float64 // bytes, bytes/s
	segments             float64
	lost, sent           float64
	active               []recording.Interval
	during               recording.Interval
	full, stretched, all int             // rows with a full pipe, and of them with a long round trip
	members              []*scene.Socket // of several that fill it together; nil: one
}

func weighBufferbloat(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var all []queued
	for _, k := range s.Sockets {
		if q, ok := waitsInQueue(k); ok && !measure.OwnSocket(r, k) {
			all = append(all, q)
		}
	}
	var out []suspect.Finding
	for _, q := range together(all) {
		if f, ok := q.findingTogether(s, r); ok {
			out = append(out, f)
			all = slices.DeleteFunc(all, func(o queued) bool { return slices.Contains(q.members, o.socket) })
		}
	}
	for _, q := range all {
		if q.fills() || !slices.ContainsFunc(all, func(o queued) bool { return o.fills() && sameWay(o.socket.First(), q.socket.First()) }) {
			out = append(out, q.finding(s, r, all))
		}
	}
	out = oneForEach(out)
	for _, l := range measure.LateOnBothSides(r) {
		if f, ok := l.ByDelay(r); ok {
			out = append(out, f)
		}
	}
	return out
}

// fills reports whether the connection kept a long queue in most of its samples:
// others on its way only wait in it.
func (q queued) fills() bool { return q.stretched >= 2 && 2*q.stretched >= q.all }

// waitsInQueue gathers what a connection's rows say; false where its round trip
// is not long.
func waitsInQueue(k *scene.Socket) (queued, bool) {
	rows := measure.TCPRowsOf(k)
	q := queued{socket: k, all: len(rows)}
	if len(rows) < 2 || k.First().Proto != "tcp" {
		return q, false
	}
	var busy, long []recording.Socket
	for i, row := range rows {
		t := row.TCP
		if t.RTT < measure.Bloated || t.MinRTT <= 0 {
			continue
		}
		long = append(long, row)
		if t.Unacked < fullPipe {
			continue
		}
		q.full++
		if t.RTT-t.MinRTT >= measure.Bloated && t.RTT >= measure.BloatedTimes*t.MinRTT {
			q.stretched++
			busy = append(busy, row)
			if i > 0 {
				q.active = append(q.active, recording.Interval{Start: rows[i-1].T, End: row.T})
			}
		}
	}
	if len(long) < 2 {
		return q, false
	}
	q.active = intervals.Merge(q.active, measure.Joined)
	of := busy
	if len(busy) < 2 {
		of = long
	}
	q.rtt = measure.Median(of, func(s recording.Socket) float64 { return s.TCP.RTT })
	q.shortest = measure.Median(of, func(s recording.Socket) float64 { return s.TCP.MinRTT })
	q.segments = measure.Median(of, func(s recording.Socket) float64 { return float64(s.TCP.Unacked) })
	q.inFlight = measure.Median(of, func(s recording.Socket) float64 { return float64(s.TCP.Unacked * s.TCP.SndMSS) })
	a, b := of[0], of[len(of)-1]
	q.during = recording.Interval{Start: a.T, End: b.T}
	if d := b.T.Sub(a.T).Seconds(); d > 0 {
		q.rate = (float64(b.TCP.BytesAcked) - float64(a.TCP.BytesAcked)) / d
	}
	q.lost = float64(b.TCP.TotalRetrans-a.TCP.TotalRetrans) - float64(b.TCP.DSACKDups-a.TCP.DSACKDups)
	q.sent = float64(b.TCP.DataSegsOut) - float64(a.TCP.DataSegsOut)
	return q, true
}

func (q queued) extra() float64 { return q.rtt - q.shortest }

func (q queued) finding(s *scene.Scene, r *recording.Recording, all []queued) suspect.Finding {
	remote := recording.Host(q.socket.First().Remote)
	f := suspect.Finding{Subject: q.socket.Subject, Active: q.active, Next: "ss -tin 'dst " + remote + "'; tc -s qdisc"}
	fields := source.SS("-tin", source.RTT, source.MinRTT, source.Word("unacked"), source.BytesAcked)
	switch {
	case q.extra() < measure.Bloated || q.rtt < measure.BloatedTimes*q.shortest:
		f.Text = "a long path"
		f.Evidence = []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: q.shortest, Unit: "s", Source: fields, Origin: "rtt",
			Text: fmt.Sprintf("the round trip to %s is %s, and was never under %s: a long path, no queue", remote, units.Lasting(q.rtt), units.Lasting(q.shortest))}}
		return f
	case !q.fills():
		f.Text = "a long round trip without a full pipe"
		f.Evidence = []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: q.segments, Unit: "segments", Source: fields, Origin: "rtt",
			Text: fmt.Sprintf("the round trip to %s is %s against %s, but only %s segments were in flight (in %d of %d samples more than %d): late ACKs, no queue that it fills", remote, units.Lasting(q.rtt), units.Lasting(q.shortest), units.Count(q.segments), q.full, q.all, fullPipe)}}
		return f
	}
	f.Text = fmt.Sprintf("the round trip to %s is %s against %s when nothing waits: a queue of %s on the way is kept full", remote, units.Lasting(q.rtt), units.Lasting(q.shortest), units.Bytes(q.rate*q.extra()))
	f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: q.extra(), Unit: "s", Source: fields, Origin: "rtt",
		Text: fmt.Sprintf("round trip %s against the shortest of %s with %s segments in flight, in %d of %d samples; %s segments lost", units.Lasting(q.rtt), units.Lasting(q.shortest), units.Count(q.segments), q.stretched, q.all, units.OfAll(max(0, q.lost), q.sent))})
	if q.sent > 0 && q.lost > lossBesides*q.sent {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: q.lost, Unit: "segments", Source: source.SS("-tin", source.Retrans), Origin: "retransmit",
			Text: fmt.Sprintf("%s segments were lost: the loss holds the sender back", units.OfAll(q.lost, q.sent))})
	}
	if q.rate > 0 {
		holds := q.rate * q.shortest
		waits := (q.inFlight - holds) / q.rate
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: q.inFlight - holds, Unit: "B", Source: fields, Origin: "bytes in flight",
			Text: fmt.Sprintf("%s in flight; the path itself holds %s of it at %s/s, and the rest takes %s to leave", units.Bytes(q.inFlight), units.Bytes(holds), units.Bytes(q.rate), units.Lasting(waits))}
		if math.Abs(waits-q.extra()) <= 0.3*q.extra() {
			e.Grade = suspect.Strong
		}
		f.Evidence = append(f.Evidence, e)
	}
	if e, others := q.alsoWaiting(all); len(others) > 0 {
		f.Evidence, f.Related = append(f.Evidence, e), append(f.Related, others...)
	}
	if q.socket.Peer != nil {
		f.Related = append(f.Related, q.socket.Peer.Subject)
	}
	f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("At the narrowest place towards %s: fq_codel, or cake with a bandwidth just under %s. Or net.ipv4.tcp_congestion_control = bbr here, in /etc/sysctl.d.", remote, units.LineRate(q.rate))}
	harm := suspect.Harm{Symptom: scene.RequestLatency, Amount: q.extra(), Unit: "s", Text: fmt.Sprintf("each packet to %s waits %s longer", remote, units.Lasting(q.extra()))}
	f.Harm = harm
	if e, ok := oneOfMany(q.socket, q.during); ok {
		f.Evidence = append(f.Evidence, e)
		f.Harm = suspect.Harm{}
	}
	if owner, e, ok := q.heldBy(s, r); ok {
		f.Evidence = append(f.Evidence, e)
		f.Related = append(f.Related, f.Subject)
		f.Harm = harm
		q.shorten(s, r, owner, &f)
	}
	return f
}

// shorten makes the queue that holds what waits the finding's subject, and a shorter one its remedy.
func (q queued) shorten(s *scene.Scene, r *recording.Recording, owner leaf, f *suspect.Finding) {
	f.Subject = owner.subject()
	f.Next = remedy.InNetns(s, owner.device.Netns, "tc -s qdisc show dev "+owner.device.Device)
	f.Settings = shorterQueue(s, r, owner, q.rate)
	f.Remedy = suspect.Remedy{Now: remedy.Now(s, r, f.Settings),
		Permanently: remedy.Join(fmt.Sprintf("fq_codel at the same rate in place of %s on %s, in the .network file or the unit that sets it.", owner.kind, owner.device.Device), remedy.Kept(s, r, f.Settings))}
}

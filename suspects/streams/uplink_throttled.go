package streams

import (
	"fmt"
	"math"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var uplinkThrottled = &suspect.Suspect{
	Name:  "uplink-throttled",
	Title: "the uplink carries less than the stream needs",
	About: "What the publisher writes waits in its socket, the link takes on a part of it, and the server has read all that came: the stream falls back further and further, or stops between its key frames. " +
		"A server that does not read fills the same queue, but then its window is shut and the data waits unread there.",
	Needs: []suspect.Need{
		{Measure: "streams.figures", Must: true, Why: "that the stream falls back, and since when"},
		{Measure: "sockets.diag", Must: true, Why: "what waits at the publisher's socket, what left it and what arrived"},
		{Measure: "sockets.owner", Must: true, Why: "which process owns these sockets"},
		{Measure: "sockets.retransmits", Why: "whether it is loss that holds it back"},
	},
	For: []string{
		"decisive: bytes wait at the publisher (285 kB), none wait unread in the server's socket buffer, the window is open, and what one end counts as acknowledged the other counts as received: the link carries that much and no more",
		"strong: the round trip grows with the queue (1.6 s against 0.1 ms)",
	},
	Against: []string{
		"decisive: nothing waits at the publisher: the encoder makes no more",
		"decisive: it waits unread in the server's socket buffer, or the window is shut: the server",
		"decisive: segments are lost, and the round trip does not grow: see packet-loss; where it grows, what is lost found the queue full",
		"strong, from the player alone: the same number of frames each second though their bytes differ",
		"trap: a key frame alone waits for some milliseconds on any link: a sample finds it now and then",
	},
	LeadsTo: []suspect.Lead{{To: scene.StreamLate, Lag: 5 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.FramesSkipped, Lag: 10 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second},
		{To: scene.ThroughputPlateau, Lag: 5 * time.Second}, {To: "bufferbloat", Lag: 5 * time.Second}, {To: "qdisc-drop", Lag: 5 * time.Second}, {To: "fq-flow-limit", Lag: 5 * time.Second}, {To: "packet-loss", Lag: 5 * time.Second}, {To: scene.DatagramsLost, Lag: 5 * time.Second}},
	Claims: []ledger.Account{ledger.Queue, ledger.Loss},
	Remedy: suspect.Remedy{
		Permanently: "A link that carries more: its shaper (tc qdisc: .network or the unit that sets it), the provider's.",
		Program:     "A bit rate under what the link carries (-b:v, -maxrate and -bufsize of ffmpeg).",
	},
	Verified: "Send-Q of the publisher is 0 in most samples, and its clock moves 1.00 s a second",
	Next:     "ss -tinpo state established   # Send-Q, rtt, notsent of the publisher; tc -s qdisc",
	Weigh:    weighUplinkThrottled,
}

func weighUplinkThrottled(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, f := range Locate(s, r) {
		switch f.at {
		case atSlowLink:
			out = append(out, f.with(f.onFiles(f.throttled(s)), f.upstream(s, r)))
		case atSource:
			if f.from.socket != nil {
				out = append(out, f.linkFree(f.from.nothingToSend()))
			}
		case atServer:
			if f.to.waits() && f.link > 0 {
				out = append(out, f.linkFree(fmt.Sprintf("it carried more than %s took: up to %s waited unread there", f.to.name(), units.Bytes(float64(f.to.most)))))
			}
		case atUnknown:
			if f.slow && f.open.upstream {
				out = append(out, f.with(f.notByBytes(r, f.cantTell(s, r, "its uplink carries too little")), f.upstream(s, r)))
			}
		}
	}
	return out
}

// lossy is the share of segments sent again from which loss, and not a rate, holds
// a connection back (packet-loss: measure.LossFelt).
const lossy = 4 * measure.LossFelt

// A timer that doubled so often waited for packets that are lost, unless the round trip itself is as
// long as the timer.
const (
	backsOff = 2
	timedOut = 1.0 // s
)

func (f *faulty) throttled(s *scene.Scene) suspect.Finding {
	l := f.stream.Way[f.link]
	out := f.finding(s, l.From.Subject)
	rate := f.from.acked / max(f.from.seconds, 1)
	if rate == 0 { // it is looked at where nothing moved
		rate = carriedBy(l.From)
	}
	out.Text = fmt.Sprintf("the link from %s to %s carries %s/s, and up to %s waits for it", f.from.name(), l.From.First().Remote, units.Bytes(rate), units.Bytes(float64(f.from.most)))
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(f.from.most), Unit: "B", Source: source.SS("-tnpi", source.SendQ, source.BytesAcked, source.BytesReceived), Origin: "queues",
		Text: fmt.Sprintf("bytes waited at its socket %s, up to %s; %s left it in %s", f.from.lookedAt(), units.Bytes(float64(f.from.most)), units.Bytes(f.from.acked), units.Lasting(f.from.seconds))}
	if f.to.seen && f.to.looks > 0 {
		e.Text += fmt.Sprintf(", %s arrived, and %s had read it (bytes in Recv-Q %s)", units.Bytes(f.to.received), f.to.name(), f.to.lookedAt())
		if f.from.seconds > 0 && math.Abs(f.to.received-f.from.acked) <= max(2*measure.Tolerance*f.from.acked, float64(f.from.most)) {
			e.Grade = suspect.Decisive
		}
	}
	out.Evidence = append(out.Evidence, e)
	queues := f.from.rtt >= measure.Bloated && f.from.rtt >= measure.BloatedTimes*f.from.shortest
	if queues {
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: f.from.rtt, Unit: "s", Source: source.SS("-tinp", source.RTT, source.MinRTT), Origin: "rtt",
			Text: fmt.Sprintf("the round trip was %s, and %s at the shortest: it queues on the way", units.Lasting(f.from.rtt), units.Lasting(f.from.shortest))})
	}
	if f.from.limited < 0.1 {
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: f.from.limited, Unit: "share", Source: source.SS("-tnpi", source.RwndLimited), Origin: "window",
			Text: fmt.Sprintf("the server's window held it for %.0f %% of that time", 100*f.from.limited)})
	}
	if !queues {
		out.NotTo = append(out.NotTo, "packet-loss")
	}
	if f.from.segments > 0 && f.from.resent >= lossy*f.from.segments && f.from.resent >= measure.FewRetransmits && !queues {
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: f.from.resent, Unit: "segments", Source: source.SS("-tnpi", source.Retrans, source.RTT), Origin: "retransmit",
			Text: fmt.Sprintf("%s segments were sent again, and the round trip is %s: no queue is full, and loss holds it back", units.OfAll(f.from.resent, f.from.segments), units.Lasting(f.from.rtt))})
	}
	if f.from.backoff >= backsOff && f.from.rtt < timedOut {
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: float64(f.from.backoff), Unit: "doublings", Source: source.SS("-tnpio", source.Backoff, source.RTT), Origin: "timer",
			Text: fmt.Sprintf("its retransmission timer doubled %d times, and what is acknowledged is so within %s: packets are lost, and a queue would only be late", f.from.backoff, units.Lasting(f.from.rtt))})
	}
	who := measure.OrProgram(l.From.Subject.Comm)
	if f.link+1 < len(f.stream.Way) { // a server only passes it on
		who = "the encoder, or a smaller rendition made before " + who
	}
	out.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("A faster way to %s: its shaper, where there is one (%s).", recording.Host(l.From.First().Remote), remedy.InNetns(s, l.From.First().Netns, "tc -s qdisc")),
		Program: fmt.Sprintf("%s: a bit rate under %s (-b:v, -maxrate).", who, units.LineRate(rate))}
	out.Next = remedy.InNetns(s, l.From.First().Netns, "ss -tino dst "+recording.Host(l.From.First().Remote)) + "; " + remedy.InNetns(s, l.From.First().Netns, "tc -s qdisc")
	return out
}

// carriedBy is what a connection carried all the time, bytes per second.
func carriedBy(k *scene.Socket) float64 {
	rows := measure.TCPRowsOf(k)
	a, b := rows[0], rows[len(rows)-1]
	return float64(b.TCP.BytesAcked-a.TCP.BytesAcked) / max(1, b.T.Sub(a.T).Seconds())
}

// linkFree clears the connection that the fault is at.
func (f *faulty) linkFree(text string) suspect.Finding {
	out := suspect.Finding{Subject: f.stream.Subject, Active: f.spans, Text: "the link carries what it is given"}
	if l := f.stream.Way[f.link]; l.From != nil {
		out.Subject = l.From.Subject
	}
	out.Evidence = []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: float64(f.from.waiting), Unit: "samples", Source: source.SS("-tnpi", source.SendQ), Origin: "queues", Text: text}}
	return out
}

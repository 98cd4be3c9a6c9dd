package streams

import (
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var uplinkBlackhole = &suspect.Suspect{
	Name:  "uplink-blackhole",
	Title: "the uplink swallows the stream",
	About: "The publisher sends, nothing of it arrives, and no error is reported: a filter, a dead route, a radio that is gone. Its timer backs off, cwnd falls to 1, and both ends believe that the connection is open. " +
		"At the player it looks like an encoder that was stopped.",
	Needs: []suspect.Need{
		{Measure: "streams.figures", Must: true, Why: "when the stream stopped"},
		{Measure: "sockets.diag", Must: true, Why: "the publisher's backed-off timer, and what arrived at the server"},
		{Measure: "sockets.owner", Must: true, Why: "which process owns these sockets"},
		{Measure: "sockets.retransmits", Why: "what was sent again, counted independently"},
	},
	For: []string{
		"decisive: the publisher's timer backs off and segments are sent again (cwnd 1, backoff 4), nothing is acknowledged, and the server, with an empty receive queue, got nothing (lastrcv 3.6 s)",
		"strong: the same at the publisher alone",
		"decisive: over UDP: datagrams are sent where it is sent from, and none come where it is read",
	},
	Against: []string{
		"decisive: the server's window is shut, and it answers each probe: it does not read",
		"decisive: nothing waits at the publisher: it sent nothing",
		"trap: some of it is acknowledged: a link that carries too little, or loses",
	},
	LeadsTo: []suspect.Lead{{To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.StreamLate, Lag: 10 * time.Second}, {To: scene.FramesSkipped, Lag: 10 * time.Second},
		{To: "half-open-peer", Lag: 30 * time.Second}, {To: "packet-loss", Lag: 5 * time.Second}, {To: "peer-reset", Lag: time.Minute}},
	Remedy: suspect.Remedy{
		Permanently: "What swallows packets between the two: a filter (nft list ruleset), a route, a neighbour, the carrier, in both directions.",
		Program:     "TCP_USER_TIMEOUT in the publisher, so that it connects again.",
	},
	Verified: "backoff is 0, and lastrcv at the server is under a frame time",
	Next:     "ss -tinpo state established   # timer, backoff, lastack of the publisher; ping and traceroute to the server",
	Weigh:    weighUplinkBlackhole,
}

func weighUplinkBlackhole(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, f := range Locate(s, r) {
		switch f.at {
		case atDeadLink:
			dead := f.swallowed
			if f.stream.Way[f.link].Datagrams {
				dead = func(s *scene.Scene, _ *recording.Recording) suspect.Finding { return f.lostDatagrams(s) }
			}
			if lost, sent := f.losesAnyway(s); lost > 0 {
				dead = func(*scene.Scene, *recording.Recording) suspect.Finding {
					return f.linkFree(fmt.Sprintf("%s segments were lost in the seconds in which others arrived: it loses packets all the time", units.OfAll(lost, sent)))
				}
			}
			out = append(out, f.with(f.onFiles(dead(s, r)), f.upstream(s, r)))
		case atSource:
			if !f.slow && f.from.socket != nil {
				out = append(out, f.linkFree(f.from.nothingToSend()))
			}
		case atServer:
			if f.to.waits() && f.link > 0 {
				out = append(out, f.linkFree(fmt.Sprintf("it carried what was sent: up to %s waited unread in the socket buffer of %s", units.Bytes(float64(f.to.most)), f.to.name())))
			}
		case atSlowLink:
			out = append(out, f.linkFree(fmt.Sprintf("it carried %s in %s", units.Bytes(f.from.acked), units.Lasting(f.from.seconds))))
		case atUnknown:
			if !f.slow && f.open.upstream {
				out = append(out, f.with(f.cantTell(s, r, "its uplink is dead"), f.upstream(s, r)))
			}
		}
	}
	return out
}

func (f *faulty) swallowed(s *scene.Scene, r *recording.Recording) suspect.Finding {
	l := f.stream.Way[f.link]
	k := l.From.First()
	out := f.finding(s, l.From.Subject)
	out.Text = fmt.Sprintf("nothing that %s sends arrives at %s: up to %s waits, and the timer has doubled %d times", f.from.name(), k.Remote, units.Bytes(float64(f.from.most)), f.from.backoff)
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(f.from.backoff), Unit: "doublings", Source: source.SS("-tinpo", source.Word("timer"), source.Backoff, source.Retrans, source.BytesAcked, source.BytesReceived), Origin: "the publisher's socket",
		Text: fmt.Sprintf("%s waited and nothing was acknowledged in %s; the timer doubled %d times, %s segments were sent again", units.Bytes(float64(f.from.most)), units.Lasting(f.from.seconds), f.from.backoff, units.Count(f.from.resent))}
	traced := 0.0
	for _, t := range r.Retransmits {
		if measure.Namespace(r, t.Netns) == k.Netns && scene.Address(t.Local) == k.Local && scene.Address(t.Remote) == k.Remote && intervals.Cover(f.spans, t.T.Add(time.Second/2)) {
			traced += float64(t.N)
		}
	}
	if traced > 0 {
		e.Text += fmt.Sprintf(" (%s traced)", units.Count(traced))
	}
	// The server's own usual is of a time in which little came, where that went on for long.
	if f.to.cameLittle() || f.to.seen && f.to.seconds > 0 && f.to.received <= little*f.from.usualWritten*f.to.seconds {
		e.Grade = suspect.Decisive
		e.Text += fmt.Sprintf("; %s got %s in that time and had read all (bytes in Recv-Q %s)", f.to.name(), units.Bytes(f.to.received), f.to.lookedAt())
	}
	out.Evidence = append(out.Evidence, e)
	if n := measure.AnswersElsewhere(s, l.From, out.Active[0]); n > 0 {
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: float64(n), Unit: "connections", Source: source.SS("-tin", source.SegsIn), Origin: "other connections",
			Text: fmt.Sprintf("%s to %s went on: the host is there", units.Plural(n, "other connection"), recording.Host(k.Remote))})
	}
	out.Calls = measure.PatienceCalls(l.From.Subject)
	out.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("What swallows packets from %s to %s: a filter (nft list ruleset), a route, a neighbour, the carrier.", recording.Host(k.Local), recording.Host(k.Remote)),
		Program: fmt.Sprintf("%s: TCP_USER_TIMEOUT (5,000 ms), so that it connects again.", measure.OrProgram(l.From.Subject.Comm))}
	out.Next = remedy.InNetns(s, k.Netns, "ping -c 3 "+recording.Host(k.Remote)) + "; " + remedy.InNetns(s, k.Netns, "ss -tinpo dst "+recording.Host(k.Remote))
	return out
}

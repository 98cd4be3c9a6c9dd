package net

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// closedInCapture judges captured datagrams to a port that nobody holds: their own
// destination says so, by ICMP. Linux sends few of these messages (icmp_ratelimit), so
// that what was sent after the first counts, not the messages.
func closedInCapture(r *recording.Recording) (out []suspect.Finding) {
	for _, f := range captureWays(r, "udp") {
		if f.Unreachable == 0 {
			continue
		}
		n := float64(f.SentSince)
		sub := recording.Subject{Kind: recording.KindPort, Netns: f.flow.Netns, Proto: "udp", Local: f.to}
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: n, Unit: "datagrams", Source: source.File(measure.Captured + ": ICMP port unreachable"), Origin: "icmp",
			Text: fmt.Sprintf("%s itself said %s times that the port is closed (it does so rarely), and %s datagrams were sent to it from then on", recording.Host(f.to), units.Count(float64(f.Unreachable)), units.Count(n)),
			// A filter that rejects says the same, word for word.
			Doubt: "a firewall's REJECT on that host would say the same"}
		if n < measure.StrayDatagrams {
			e.Side, e.Grade, e.Doubt = suspect.Against, suspect.Strong, ""
			e.Text = fmt.Sprintf("only %s datagrams were sent after the first message: its sender stopped", units.Count(n))
		}
		finding := suspect.Finding{Subject: sub, Evidence: []suspect.Evidence{e},
			Related: []recording.Subject{{Kind: recording.KindFlow, Netns: f.flow.Netns, Proto: "udp", Local: f.from, Remote: f.to}},
			Active:  []recording.Interval{{Start: f.UnreachableSince, End: f.Last}},
			Text:    fmt.Sprintf("%s sent %s datagrams to it, and no socket holds it", f.from, units.Count(n)),
			Remedy:  stopSending(f.from),
			Next:    "on " + recording.Host(f.to) + ": ss -uanp 'sport = :" + recording.Port(f.to) + "'; nstat -az UdpNoPorts",
			Harm:    suspect.Harm{Symptom: scene.DatagramsLost, Amount: n, Unit: "datagrams", Text: fmt.Sprintf("%s datagrams to %s lost: no socket holds the port", units.Count(n), f.to)},
		}
		if n < measure.StrayDatagrams {
			finding.Harm = suspect.Harm{}
		}
		out = append(out, withBye(r, f, finding))
	}
	return out
}

// withBye adds that the port had been used: what came from it stopped before, and a
// SIP dialogue had ended.
func withBye(r *recording.Recording, f sent, out suspect.Finding) suspect.Finding {
	back := f.flow.Up
	if f.from == scene.Address(f.flow.Client) {
		back = f.flow.Down
	}
	if back.Packets >= measure.StrayDatagrams && back.Last < f.UnreachableSince {
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(back.Packets), Unit: "datagrams", Source: source.File(measure.Captured), Origin: "the way back",
			Text: fmt.Sprintf("%s datagrams had come from that port before, the last %s before the first message: its socket was closed", units.Count(float64(back.Packets)), units.Lasting(f.UnreachableSince.Sub(back.Last).Seconds()))})
	}
	for _, c := range r.SIPCalls {
		if c.ID != f.flow.Call || c.ID == "" || c.Netns != f.flow.Netns || c.Bye == 0 || f.AfterBye < measure.StrayDatagrams {
			continue
		}
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(f.AfterBye), Unit: "datagrams", Source: source.File(measure.Captured + ": SIP BYE"), Origin: "sip",
			Text: fmt.Sprintf("the call that its media belong to had ended: %s sent BYE at %s, and %s RTP packets came after it", c.ByeFrom, c.Bye, units.Count(float64(f.AfterBye)))})
		out.Text = fmt.Sprintf("%s sent RTP on after the call's BYE: %s datagrams to a port that no socket holds", f.from, units.Count(float64(max(f.SentSince, f.AfterBye))))
	}
	return out
}

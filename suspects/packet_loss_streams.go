package suspects

import (
	"fmt"
	"strings"

	"snag/recording"
	"snag/scene"
)

// fewLostPackets of a stream are what a viewer hardly sees.
const fewLostPackets = 10

// lossOfStreams are findings on streams over UDP whose packets' counters have gaps that
// this host's own sockets did not make.
func lossOfStreams(s *scene.Scene, r *recording.Recording) []Finding {
	var out []Finding
	for _, st := range s.Streams {
		if len(st.Way) == 0 || !st.Way[0].Datagrams {
			continue
		}
		gaps, spans := st.Lost(r)
		if gaps < fewLostPackets {
			continue
		}
		l := st.Way[0]
		_, _, _, dropped := unreadDatagrams(l.To, []recording.Interval{s.Window})
		if float64(dropped) >= fewLostPackets {
			continue // its own full buffer lost them: udp-receive-buffer-full
		}
		out = append(out, lossOfStream(s, r, st, gaps, spans))
	}
	return out
}

func lossOfStream(s *scene.Scene, r *recording.Recording, st *scene.Stream, gaps float64, spans []recording.Interval) Finding {
	l := st.Way[0]
	f := Finding{
		Subject: st.Subject, Active: spans, Related: []recording.Subject{st.Subject, l.To.Subject},
		Text: fmt.Sprintf("packets of %s are lost before they come here: %s gaps", st.Subject.Name, count(gaps)),
		Harm: Harm{Symptom: scene.DatagramsLost, Amount: gaps, Unit: "packets", Text: fmt.Sprintf("%s gaps in the packets of %s", count(gaps), st.Subject.Name)},
	}
	e := Evidence{Side: For, Grade: Strong, Value: gaps, Unit: "gaps", Source: "snag_stream_continuity_errors_total, snag_stream_packets_lost_total", Origin: "frames",
		Text: fmt.Sprintf("%s gaps in its packets' counters, and nothing was dropped at the reader's own socket", count(gaps))}
	if l.From == nil {
		from := recording.Host(st.Row.Remote)
		f.Evidence = []Evidence{e, {Side: Missing, Source: "nstat UdpOutDatagrams at the sender", Text: "what its sender sent: " + st.Ends}}
		f.Next = strings.TrimSpace(fmt.Sprintf("on the sender's host %s: nstat -az UdpOutDatagrams UdpSndbufErrors; tc -s qdisc; here: %s", from, inNetns(s, l.To.First().Netns, "tcpdump -ni any udp port "+recording.Port(l.To.First().Local))))
		return f
	}
	f.Subject = l.From.Subject
	f.Related = append(f.Related, l.From.Subject)
	sent, sentOK := grew(r, l.From.First().Netns, "node_netstat_Udp_OutDatagrams")
	came, cameOK := grew(r, l.To.First().Netns, "node_netstat_Udp_InDatagrams")
	if sentOK && cameOK && l.From.First().Netns != l.To.First().Netns {
		missing := sent - came
		text := fmt.Sprintf("where it is sent from %s datagrams were sent, where it is read %s came: %s are missing", count(sent), count(came), count(max(0, missing)))
		// A datagram of seven TS packets makes a gap in each of the tracks that it carries.
		if missing >= fewLostPackets && missing >= gaps/3 && missing <= 3*gaps {
			e.Grade, e.Source, e.Origin, e.Text = Decisive, e.Source+"; /proc/net/snmp Udp OutDatagrams, InDatagrams", "datagrams", e.Text+"; "+text
		} else {
			f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: Weak, Value: missing, Unit: "datagrams", Source: "/proc/net/snmp Udp OutDatagrams, InDatagrams", Origin: "datagrams", Text: text})
		}
	}
	f.Evidence = append(f.Evidence, e)
	f.Remedy = Remedy{Permanently: fmt.Sprintf("The way from %s to %s: what drops there is above it in the chain, where it is on this host.", programOf(l.From.Subject), l.To.First().Local)}
	f.Next = inNetns(s, l.From.First().Netns, "tc -s qdisc") + "; " + inNetns(s, l.To.First().Netns, "nft list ruleset")
	return f
}

package net

import (
	"fmt"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// fewLostPackets of a stream are what a viewer hardly sees.
const fewLostPackets = 10

// lossOfStreams are findings on streams over UDP whose packets' counters have gaps that
// this host's own sockets did not make.
func lossOfStreams(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, st := range s.Streams {
		if len(st.Way) == 0 || !st.Way[0].Datagrams {
			continue
		}
		gaps, spans := st.Lost(r)
		if gaps < fewLostPackets {
			continue
		}
		l := st.Way[0]
		_, _, _, dropped := measure.UnreadDatagrams(l.To, []recording.Interval{s.Window})
		if float64(dropped) >= fewLostPackets {
			continue // its own full buffer lost them: udp-receive-buffer-full
		}
		out = append(out, lossOfStream(s, r, st, gaps, spans))
	}
	return out
}

func lossOfStream(s *scene.Scene, r *recording.Recording, st *scene.Stream, gaps float64, spans []recording.Interval) suspect.Finding {
	l := st.Way[0]
	f := suspect.Finding{
		Subject: st.Subject, Active: spans, Related: []recording.Subject{st.Subject, l.To.Subject},
		Text: fmt.Sprintf("packets of %s are lost before they come here: %s gaps", st.Subject.Name, units.Count(gaps)),
		Harm: suspect.Harm{Symptom: scene.DatagramsLost, Amount: gaps, Unit: "packets", Text: fmt.Sprintf("%s gaps in the packets of %s", units.Count(gaps), st.Subject.Name)},
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: gaps, Unit: "gaps", Source: source.At("", source.Sample("snag_stream_continuity_errors_total"), source.Sample("snag_stream_packets_lost_total")), Origin: "frames",
		Text: fmt.Sprintf("%s gaps in its packets' counters, and nothing was dropped at the reader's own socket", units.Count(gaps))}
	if l.From == nil {
		from := recording.Host(st.Row.Remote)
		f.Evidence = []suspect.Evidence{e, {Side: suspect.Missing, Source: source.Of("nstat UdpOutDatagrams at the sender"), Text: "what its sender sent: " + st.Ends}}
		f.Next = strings.TrimSpace(fmt.Sprintf("on the sender's host %s: nstat -az UdpOutDatagrams UdpSndbufErrors; tc -s qdisc; here: %s", from, remedy.InNetns(s, l.To.First().Netns, "tcpdump -ni any udp port "+recording.Port(l.To.First().Local))))
		return f
	}
	f.Subject = l.From.Subject
	f.Related = append(f.Related, l.From.Subject)
	sent, sentOK := measure.Grew(r, l.From.First().Netns, "node_netstat_Udp_OutDatagrams")
	came, cameOK := measure.Grew(r, l.To.First().Netns, "node_netstat_Udp_InDatagrams")
	if sentOK && cameOK && l.From.First().Netns != l.To.First().Netns {
		missing := sent - came
		text := fmt.Sprintf("where it is sent from %s datagrams were sent, where it is read %s came: %s are missing", units.Count(sent), units.Count(came), units.Count(max(0, missing)))
		// A datagram of seven TS packets makes a gap in each of the tracks that it carries.
		if missing >= fewLostPackets && missing >= gaps/3 && missing <= 3*gaps {
			e.Grade, e.Source, e.Origin, e.Text = suspect.Decisive, e.Source.And(source.SNMP("Udp", "OutDatagrams", "InDatagrams")), "datagrams", e.Text+"; "+text
		} else {
			f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: missing, Unit: "datagrams", Source: source.SNMP("Udp", "OutDatagrams", "InDatagrams"), Origin: "datagrams", Text: text})
		}
	}
	f.Evidence = append(f.Evidence, e)
	f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("The way from %s to %s: what drops there is above it in the chain, where it is on this host.", measure.ProgramOf(l.From.Subject), l.To.First().Local)}
	f.Next = remedy.InNetns(s, l.From.First().Netns, "tc -s qdisc") + "; " + remedy.InNetns(s, l.To.First().Netns, "nft list ruleset")
	return f
}

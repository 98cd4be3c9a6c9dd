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

// knocked is what became of the handshakes with one captured server.
type knocked struct {
	netns                                           uint64
	server                                          string
	syns, opened, late, resent, ignored, unanswered float64
	refused, longest                                float64
	slow, again                                     measure.Steps // late or never; final ACKs that were ignored
}

// knocks adds up the handshakes of each captured server.
func knocks(r *recording.Recording) (out []*knocked) {
	at := map[[2]string]*knocked{}
	for _, h := range r.Handshakes {
		key := [2]string{fmt.Sprint(h.Netns), scene.Address(h.Server)}
		k := at[key]
		if k == nil {
			k = &knocked{netns: h.Netns, server: key[1]}
			at[key] = k
			out = append(out, k)
		}
		k.syns += float64(h.SYNs)
		k.opened += float64(h.Opened)
		k.late += float64(h.Late)
		k.resent += float64(h.Resent)
		k.ignored += float64(h.Ignored)
		k.unanswered += float64(h.Unanswered)
		k.refused += float64(h.Refused)
		k.longest = max(k.longest, h.LateMax)
		if n := float64(h.Late + h.Unanswered); n > 0 {
			k.slow = append(k.slow, measure.Step{Interval: measure.OneSecond(h.T), N: n})
		}
		if h.Ignored > 0 {
			k.again = append(k.again, measure.Step{Interval: measure.OneSecond(h.T), N: float64(h.Ignored)})
		}
	}
	return out
}

// lossBesideSYNs is the most of the data that may be lost for unanswered SYNs to be
// the listener's doing and not the way's: of SYNs on such a way one in a hundred is
// late, and of a full listener's many.
const lossBesideSYNs = 0.01

// overflowInCapture judges by what a capture shows. A filter that limits SYNs looks
// alike but for one thing: a full accept queue also ignores the client's last ACK, and
// its kernel sends the SYN-ACK again (tcp_v4_syn_recv_sock, net/ipv4/tcp_ipv4.c).
func overflowInCapture(r *recording.Recording) (out []suspect.Finding) {
	for _, k := range knocks(r) {
		slow := k.late + k.unanswered
		if slow+k.ignored < fewOverflows {
			continue
		}
		f := suspect.Finding{
			Subject: recording.Subject{Kind: recording.KindListener, Netns: k.netns, Proto: "tcp", Local: k.server},
			Active:  append(k.slow, k.again...).Active(),
			Next:    "on " + recording.Host(k.server) + ": ss -ltn 'sport = :" + recording.Port(k.server) + "'; nstat -az TcpExtListenOverflows TcpExtListenDrops",
			Remedy: suspect.Remedy{Permanently: fmt.Sprintf("On %s: a larger net.core.somaxconn in /etc/sysctl.d, and a restart of the program.", recording.Host(k.server)),
				Program: "Accept faster, or ask listen() for a longer queue."},
			Text: fmt.Sprintf("%s connections waited a second and more for it to answer, up to %s, or for nothing",
				units.OfAll(slow, max(k.syns, slow)), units.Lasting(k.longest)),
		}
		lost, segments := lostAndSent(r, func(f recording.Flow) bool {
			return f.Netns == k.netns && scene.Address(f.Server) == k.server
		})
		share := lost / max(1, segments)
		syn := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: slow, Unit: "connections", Source: source.File(measure.Captured + ": SYN, SYN-ACK"), Origin: "syn",
			Text: fmt.Sprintf("%s connections were opened late (longest %s) or never, %s SYNs were sent again, and %s were answered at once",
				units.OfAll(slow, k.syns), units.Lasting(k.longest), units.Count(k.resent), units.Count(max(0, k.opened-k.late)))}
		switch {
		case k.opened == 0:
			syn.Side, syn.Text = suspect.Against, fmt.Sprintf("none of %s connections was answered: the host is down, or a filter drops all packets", units.Count(k.syns))
		case segments >= 100 && share > lossBesideSYNs && share >= 0.2*k.resent/max(1, k.syns+k.resent):
			syn.Side = suspect.Against
			syn.Text += fmt.Sprintf("; of its data %.1f %% had to be sent again as well: the way loses packets", 100*share)
		case slow < fewOverflows:
			syn.Grade = suspect.Weak
		}
		f.Evidence = append(f.Evidence, syn)
		if k.ignored > 0 {
			e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: k.ignored, Unit: "handshakes", Source: source.File(measure.Captured + ": ACK, SYN-ACK, first data"), Origin: "ignored ACK",
				Text: fmt.Sprintf("%s times a connection was open for its client and not for the server: it sent the SYN-ACK again though the ACK had come, or never acknowledged the first data: it had no room for the connection", units.Count(k.ignored))}
			if k.ignored >= fewOverflows && syn.Side == suspect.For && share <= lossBesideSYNs {
				e.Grade = suspect.Strong
			}
			f.Evidence = append(f.Evidence, e)
		}
		f.Harm = suspect.Harm{Symptom: scene.ConnectLatency, Amount: slow, Of: max(k.syns, slow), Unit: "connections",
			Text: fmt.Sprintf("%s connections to %s were opened late or never", units.OfAll(slow, k.syns), k.server)}
		out = append(out, f)
	}
	return out
}

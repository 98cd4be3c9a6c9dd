package suspects

import (
	"fmt"
	"strings"
	"time"

	"snag/recording"
	"snag/scene"
)

var halfOpenPeer = &Suspect{
	Name:  "half-open-peer",
	Title: "a peer that is gone without a word",
	About: "The other end of a connection vanished without FIN or RST: power, cable, a firewall that forgot it. This end sends again and again, ever more rarely, and the program that waits for it is stuck until tcp_retries2 runs out, 15 minutes and more. From here a dead path looks alike. A peer that is there and does not read shuts its window, and answers each probe; an idle connection says nothing on either side.",
	Needs: []Need{
		{"sockets.diag", true, "what is not acknowledged, the backed-off timer, when something last came"},
		{"sockets.retransmits", false, "what was sent again, counted independently"},
		{"sockets.owner", false, "which program waits"},
		{"host.sysctl", false, "tcp_retries2: how long it goes on"},
	},
	For: []string{
		"decisive: nothing at all came on the connection while its data was sent again and the timer backed off, by two counts that agree",
		"decisive: probes of an idle or shut connection stay without an answer",
	},
	Against: []string{
		"decisive: the window is shut and each probe is answered: a reader that does not read",
		"strong: the other end is on this host, and a process holds it: the path is dead, not the peer",
		"strong: the server has many other clients that fare well: one that is gone is everyday",
		"strong: other connections to the same host go on; no full segment was ever acknowledged (a path that swallows large packets)",
		"trap: an idle connection without keepalive may be dead as well: nothing tells until somebody sends",
	},
	LeadsTo: []Lead{{"error-answers", 10 * time.Second}, {scene.StreamFreeze, 30 * time.Second}, {scene.RequestLatency, 30 * time.Second}, {"slow-consumer", 30 * time.Second}},
	Remedy: Remedy{
		Now:         "ss -K 'dst PEER src LOCAL'",
		Permanently: "net.ipv4.tcp_retries2 = 8 in /etc/sysctl.d, for all programs.",
		Program:     "TCP_USER_TIMEOUT (10 s, say) and SO_KEEPALIVE.",
	},
	Verified: "the connection ends with ETIMEDOUT in seconds after its peer is cut off",
	Next:     "ss -tinop state established   # timer, backoff, lastrcv; then: ping the peer",
	Weigh:    weighHalfOpenPeer,
}

const (
	// backedOff: the timer has doubled three times, 0.2 + 0.4 + 0.8 + 1.6 s; at
	// 10 % of loss so many in a row are 1 in 10,000.
	backedOff = 3
	// silentFloor is the least silence that is told: as of a stall (scene).
	silentFloor = 2.0 // s
	// unanswered probes of a live peer: none; two may be lost.
	unansweredProbes = 3
)

func weighHalfOpenPeer(s *scene.Scene, r *recording.Recording) []Finding {
	var out []Finding
	for _, k := range s.Sockets {
		rows := tcpRowsOf(k)
		if len(rows) < 2 || k.First().Proto != "tcp" || k.Listening() || k.Owner() == nil || k.Subject.PID == r.Manifest.SelfPID {
			continue
		}
		switch last := rows[len(rows)-1]; {
		case last.State != "ESTABLISHED" && last.State != "CLOSE_WAIT":
		case last.Timer == "on" && last.TCP.Backoff >= backedOff:
			if f, ok := nobodyAnswers(s, r, k, rows); ok {
				out = append(out, f)
			}
		case (last.Timer == "keepalive" || last.Timer == "persist") && last.TCP.Probes >= unansweredProbes:
			out = append(out, probesFail(s, r, k, last))
		case last.Timer == "persist":
			out = append(out, Finding{Subject: k.Subject, Text: "the peer is there, and does not read", Evidence: []Evidence{{Side: Against, Grade: Decisive,
				Value: last.TCP.LastAck, Unit: "s", Source: "ss -tino timer persist, lastack", Origin: "ack",
				Text: fmt.Sprintf("the window of %s is shut, and it answered %s ago: it is there and does not read", last.Remote, lasting(last.TCP.LastAck))}}})
		}
	}
	return out
}

// silence is the rows from the last in which something came on the connection.
func silence(rows []recording.Socket) []recording.Socket {
	i := len(rows) - 1
	for i > 0 && rows[i-1].TCP.SegsIn == rows[i].TCP.SegsIn {
		i--
	}
	return rows[i:]
}

func nobodyAnswers(s *scene.Scene, r *recording.Recording, k *scene.Socket, rows []recording.Socket) (Finding, bool) {
	quiet := silence(rows)
	first, last := quiet[0], quiet[len(quiet)-1]
	span := recording.Interval{Start: first.T, End: last.T}
	silent := max(last.T.Sub(first.T).Seconds(), min(last.TCP.LastRcv, last.TCP.LastAck))
	if silent < silentFloor || len(quiet) < 2 {
		return Finding{}, false
	}
	f := Finding{Subject: k.Subject, Active: []recording.Interval{span}, Next: "ping -c 3 " + recording.Host(last.Remote) + "; " + inNetns(s, last.Netns, "ss -tinop dst "+last.Remote)}
	again := float64(last.TCP.TotalRetrans - first.TCP.TotalRetrans)
	e := Evidence{Side: For, Grade: Strong, Value: silent, Unit: "s", Origin: "silence", Source: "ss -tino segs_in, retrans, backoff, lastrcv",
		Text: fmt.Sprintf("nothing came from %s for %s (segments received stand at %s), %s not acknowledged; the timer has doubled %d times, %s segments were sent again",
			last.Remote, lasting(silent), count(float64(last.TCP.SegsIn)), size(float64(last.SendQ)), last.TCP.Backoff, count(again))}
	var events steps
	for _, t := range r.Retransmits {
		if namespace(r, t.Netns) == last.Netns && scene.Address(t.Local) == last.Local && scene.Address(t.Remote) == last.Remote {
			events = append(events, step{oneSecond(t.T), float64(t.N)})
		}
	}
	n, same := events.agreeIn(again, span)
	if again >= 1 && n >= 1 && (same || segmentsOf(n, again)) {
		e.Grade = Decisive
		e.Source += "; tracepoint tcp:tcp_retransmit_skb"
		e.Text += fmt.Sprintf(" (%s were traced)", count(n))
	}
	if p := k.Peer; p != nil && len(p.Last().Owners) > 0 {
		e.Grade = Strong
		f.Evidence = append(f.Evidence, Evidence{Side: Against, Grade: Strong, Source: "ss -tnp", Origin: "peer",
			Text: fmt.Sprintf("%s, the other end, is on this host and alive: the path swallows what is sent", p.Subject.Name)})
	}
	if acked := float64(last.TCP.BytesAcked); acked < 2*float64(last.TCP.SndMSS) && last.SendQ >= last.TCP.SndMSS {
		e.Grade = Strong
		f.Evidence = append(f.Evidence, Evidence{Side: Against, Grade: Strong, Value: acked, Unit: "B", Source: "ss -tin bytes_acked, mss", Origin: "bytes_acked",
			Text: fmt.Sprintf("only %s were ever acknowledged, and never a full segment of %d bytes: a path that swallows large packets looks alike", size(acked), last.TCP.SndMSS)})
	}
	if n := answersElsewhere(s, k, span); n > 0 {
		e.Grade = Strong
		f.Evidence = append(f.Evidence, Evidence{Side: Against, Grade: Strong, Value: float64(n), Unit: "connections", Source: "ss -tin segs_in", Origin: "other connections",
			Text: fmt.Sprintf("%s to %s went on meanwhile: the host is there", plural(n, "other connection"), recording.Host(last.Remote))})
	}
	if others, ok := oneOfMany(k, span); ok {
		e.Grade = Strong
		f.Evidence = append(f.Evidence, others)
	}
	f.Evidence = append([]Evidence{e}, f.Evidence...)
	f.Text = fmt.Sprintf("%s is gone, or the whole path to it: %s waits for it, with %s unacknowledged for %s", last.Remote, k.Owner().Subject.Name, size(float64(last.SendQ)), lasting(silent))
	f.Remedy = patience(s, r, k, last, e.Grade == Decisive)
	f.Calls = patienceCalls(k.Subject)
	f.Related = []recording.Subject{k.Owner().Subject}
	f.Harm = Harm{Symptom: scene.StreamFreeze, Amount: last.T.Sub(first.T).Seconds(), Of: s.Window.Length(s.Window.End).Seconds(), Unit: "s",
		Text: fmt.Sprintf("nothing got through to %s for %s", last.Remote, lasting(silent))}
	return f, true
}

// probesFail judges a connection that has nothing to send, or may not.
func probesFail(s *scene.Scene, r *recording.Recording, k *scene.Socket, last recording.Socket) Finding {
	silent := min(last.TCP.LastRcv, last.TCP.LastAck)
	f := Finding{Subject: k.Subject, Related: []recording.Subject{k.Owner().Subject}, Remedy: patience(s, r, k, last, true), Calls: patienceCalls(k.Subject), Next: "ping -c 3 " + recording.Host(last.Remote)}
	f.Text = fmt.Sprintf("%s is gone, or the whole path to it, and answers no probe", last.Remote)
	f.Evidence = []Evidence{{Side: For, Grade: Decisive, Value: float64(last.TCP.Probes), Unit: "probes", Source: "ss -tino timer, lastrcv, lastack", Origin: "silence",
		Text: fmt.Sprintf("%d %s probes in a row were not answered; nothing came for %s", last.TCP.Probes, last.Timer, lasting(silent))}}
	if last.SendQ > 0 {
		f.Harm = Harm{Symptom: scene.StreamFreeze, Amount: min(silent, s.Window.Length(s.Window.End).Seconds()), Unit: "s", Text: fmt.Sprintf("%s wait for it", size(float64(last.SendQ)))}
	}
	return f
}

// patience says how long the kernel goes on, and how to make it shorter. From
// 200 ms the timer doubles up to 120 s (TCP_RTO_MAX, net/ipv4/tcp_timer.c). A connection
// whose peer is proved to be gone can be closed now.
func patience(s *scene.Scene, r *recording.Recording, k *scene.Socket, last recording.Socket, proved bool) Remedy {
	out := Remedy{Program: fmt.Sprintf("%s: TCP_USER_TIMEOUT (10,000 ms) and SO_KEEPALIVE.", orProgram(k.Subject.Comm))}
	if proved {
		out.Now = closeNow(s, last.Netns, last.Local, last.Remote)
	}
	if v, ok := setting(r, last.Netns, "net.ipv4.tcp_retries2"); ok && v > 8 && v < 100 {
		wait, rto := 0.0, 0.2
		for range int(v) + 1 {
			wait, rto = wait+rto, min(2*rto, 120)
		}
		sooner := Setting{Kind: "sysctl", Name: "net.ipv4.tcp_retries2", At: inSpace(last.Netns), Value: "8"}
		out.Permanently = fmt.Sprintf("%s, for all programs: with %.0f it goes on for %s.", keptIn(sooner, s), v, strings.TrimSuffix(time.Duration(wait*float64(time.Second)).Round(time.Second).String(), "0s"))
	}
	return out
}

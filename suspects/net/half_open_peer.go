package net

import (
	"fmt"
	"strings"
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

var halfOpenPeer = &suspect.Suspect{
	Name:  "half-open-peer",
	Title: "a peer that is gone without a word",
	About: "The other end of a connection vanished without FIN or RST: power, cable, a firewall that forgot it. This end sends again and again, ever more rarely, and the program that waits for it is stuck until tcp_retries2 runs out, 15 minutes and more. From here a dead path looks alike. A peer that is there and does not read shuts its window, and answers each probe; an idle connection says nothing on either side.",
	Needs: []suspect.Need{
		{Measure: "sockets.diag", Must: true, Why: "what is not acknowledged, the backed-off timer, when something last came"},
		{Measure: "sockets.retransmits", Must: false, Why: "what was sent again, counted independently"},
		{Measure: "sockets.owner", Must: false, Why: "which program waits"},
		{Measure: "host.sysctl", Must: false, Why: "tcp_retries2: how long it goes on"},
	},
	For: []string{
		"decisive: nothing at all came on the connection while its data was sent again and the timer backed off, by two counts that agree",
		"decisive: probes of an idle or shut connection stay without an answer",
		"decisive (capture): no SYN to it was answered, neither by a SYN-ACK nor by a reset, and its host answered nothing else",
		"decisive (capture): a router, or the host itself, says by ICMP that its SYNs do not arrive",
		"strong twice (capture): a request was never acknowledged, and was sent again and again",
		"strong twice: connections to it wait in SYN_SENT, and none comes about; their SYNs are sent again, and neither a SYN-ACK nor a reset comes",
	},
	Against: []string{
		"decisive: the window is shut and each probe is answered: a reader that does not read",
		"strong: the other end is on this host, and a process holds it: the path is dead, not the peer",
		"strong: the server has many other clients that fare well: one that is gone is everyday",
		"strong: other connections to the same host go on; no full segment was ever acknowledged (a path that swallows large packets)",
		"trap: an idle connection without keepalive may be dead as well: nothing shows it until somebody sends",
	},
	InFiles: map[string][]string{"sockets.diag": {"pcap.flows"}},
	Claims:  []ledger.Account{ledger.Loss},
	LeadsTo: []suspect.Lead{{To: "packet-loss", Lag: 10 * time.Second}, {To: "error-answers", Lag: 10 * time.Second}, {To: scene.ConnectLatency, Lag: 10 * time.Second}, {To: scene.ConnectionErrors, Lag: 30 * time.Second}, {To: scene.StreamFreeze, Lag: 30 * time.Second}, {To: scene.RequestLatency, Lag: 30 * time.Second}, {To: "slow-consumer", Lag: 30 * time.Second}},
	Remedy: suspect.Remedy{
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
	// silentFloor is the shortest silence that is reported: as of a stall (scene).
	silentFloor = 2.0 // s
	// unanswered probes of a live peer: none; two may be lost.
	unansweredProbes = 3
)

func weighHalfOpenPeer(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	gone := onPaths{}
	for _, k := range s.Sockets {
		rows := whileOpen(measure.TCPRowsOf(k))
		if len(rows) < 2 || k.First().Proto != "tcp" || k.Listening() || k.Owner() == nil || k.Subject.PID == r.Manifest.SelfPID {
			continue
		}
		switch last := rows[len(rows)-1]; {
		case last.State != "ESTABLISHED" && last.State != "CLOSE_WAIT":
		case last.Timer == "on" && last.TCP.Backoff >= backedOff:
			if f, ok := nobodyAnswers(s, r, k, rows); ok {
				gone.of(k, last.Remote, f)
			}
		case (last.Timer == "keepalive" || last.Timer == "persist") && last.TCP.Probes >= unansweredProbes:
			out = append(out, probesFail(s, r, k, last))
		case last.Timer == "persist":
			out = append(out, suspect.Finding{Subject: k.Subject, Text: "the peer is there, and does not read", Evidence: []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive,
				Value: last.TCP.LastAck, Unit: "s", Source: source.SS("-tino", source.Word("timer persist"), source.LastAck), Origin: "ack",
				Text: fmt.Sprintf("the window of %s is shut, and it answered %s ago: it is there and does not read", last.Remote, units.Lasting(last.TCP.LastAck))}}})
		}
	}
	out = append(out, gone.worst()...)
	return append(append(out, nobodyLetsIn(s, r)...), goneInCapture(s, r)...)
}

// whileOpen is the rows up to when the program gave up and closed: what it has sent is still
// unacknowledged then, and its FIN waits behind that.
func whileOpen(rows []recording.Socket) []recording.Socket {
	n := len(rows)
	for n > 0 && rows[n-1].State == "FIN_WAIT1" && rows[n-1].TCP.Backoff > 0 {
		n--
	}
	return rows[:n]
}

// silence is the rows from the last in which something came on the connection.
func silence(rows []recording.Socket) []recording.Socket {
	i := len(rows) - 1
	for i > 0 && rows[i-1].TCP.SegsIn == rows[i].TCP.SegsIn {
		i--
	}
	return rows[i:]
}

func nobodyAnswers(s *scene.Scene, r *recording.Recording, k *scene.Socket, rows []recording.Socket) (suspect.Finding, bool) {
	quiet := silence(rows)
	first, last := quiet[0], quiet[len(quiet)-1]
	span := recording.Interval{Start: first.T, End: last.T}
	silent := max(last.T.Sub(first.T).Seconds(), min(last.TCP.LastRcv, last.TCP.LastAck))
	if silent < silentFloor || len(quiet) < 2 {
		return suspect.Finding{}, false
	}
	f := suspect.Finding{Subject: k.Subject, Active: []recording.Interval{span}, Next: "ping -c 3 " + recording.Host(last.Remote) + "; " + remedy.InNetns(s, last.Netns, "ss -tinop dst "+last.Remote)}
	again := float64(last.TCP.TotalRetrans - first.TCP.TotalRetrans)
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: silent, Unit: "s", Origin: "silence", Source: source.SS("-tino", source.SegsIn, source.Retrans, source.Backoff, source.LastRcv),
		Text: fmt.Sprintf("nothing came from %s for %s (segments received stand at %s), %s not acknowledged; the timer has doubled %d times, %s segments were sent again",
			last.Remote, units.Lasting(silent), units.Count(float64(last.TCP.SegsIn)), units.Bytes(float64(last.SendQ)), last.TCP.Backoff, units.Count(again))}
	var events measure.Steps
	for _, t := range r.Retransmits {
		if measure.Namespace(r, t.Netns) == last.Netns && scene.Address(t.Local) == last.Local && scene.Address(t.Remote) == last.Remote {
			events = append(events, measure.Step{Interval: measure.OneSecond(t.T), N: float64(t.N)})
		}
	}
	n, same := events.AgreeIn(again, span)
	if again >= 1 && n >= 1 && (same || segmentsOf(n, again)) {
		e.Grade = suspect.Decisive
		e.Source = e.Source.And(source.Retransmit)
		e.Text += fmt.Sprintf(" (%s were traced)", units.Count(n))
	}
	if alive, ok := peerAlive(k); ok {
		e.Grade = suspect.Strong
		f.Evidence = append(f.Evidence, alive)
	}
	if acked := float64(last.TCP.BytesAcked); acked < 2*float64(last.TCP.SndMSS) && last.SendQ >= last.TCP.SndMSS {
		e.Grade = suspect.Strong
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: acked, Unit: "B", Source: source.SS("-tin", source.BytesAcked, source.Word("mss")), Origin: "bytes_acked",
			Text: fmt.Sprintf("only %s were ever acknowledged, and never a full segment of %d bytes: a path that swallows large packets looks alike", units.Bytes(acked), last.TCP.SndMSS)})
	}
	if n := measure.AnswersElsewhere(s, k, span); n > 0 {
		e.Grade = suspect.Strong
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: float64(n), Unit: "connections", Source: source.SS("-tin", source.SegsIn), Origin: "other connections",
			Text: fmt.Sprintf("%s to %s went on meanwhile: the host is there", units.Plural(n, "other connection"), recording.Host(last.Remote))})
	}
	if others, ok := oneOfMany(k, span); ok {
		e.Grade = suspect.Strong
		f.Evidence = append(f.Evidence, others)
	}
	f.Evidence = append([]suspect.Evidence{e}, f.Evidence...)
	f.Text = fmt.Sprintf("%s is gone, or the whole path to it: %s waits for it, with %s unacknowledged for %s", last.Remote, k.Owner().Subject.Name, units.Bytes(float64(last.SendQ)), units.Lasting(silent))
	f.Remedy = patience(s, r, k, last, e.Grade == suspect.Decisive)
	f.Calls = measure.PatienceCalls(k.Subject)
	f.Related = []recording.Subject{k.Owner().Subject}
	f.Harm = suspect.Harm{Symptom: scene.StreamFreeze, Amount: last.T.Sub(first.T).Seconds(), Of: s.Window.Length(s.Window.End).Seconds(), Unit: "s",
		Text: fmt.Sprintf("nothing got through to %s for %s", last.Remote, units.Lasting(silent))}
	return f, true
}

// aliveHere reports whether an end is on this host, in the hands of a process.
func aliveHere(k *scene.Socket) bool { return k != nil && len(k.Last().Owners) > 0 }

// peerAlive is the evidence of another end that is on this host, in the hands of a process.
func peerAlive(k *scene.Socket) (suspect.Evidence, bool) {
	if !aliveHere(k.Peer) {
		return suspect.Evidence{}, false
	}
	return suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Source: source.SS("-tnp"), Origin: "peer",
		Text: fmt.Sprintf("%s, the other end, is on this host and alive: the path swallows what is sent", k.Peer.Subject.Name)}, true
}

// probesFail judges a connection that has nothing to send, or may not.
func probesFail(s *scene.Scene, r *recording.Recording, k *scene.Socket, last recording.Socket) suspect.Finding {
	silent := min(last.TCP.LastRcv, last.TCP.LastAck)
	f := suspect.Finding{Subject: k.Subject, Related: []recording.Subject{k.Owner().Subject}, Remedy: patience(s, r, k, last, true), Calls: measure.PatienceCalls(k.Subject), Next: "ping -c 3 " + recording.Host(last.Remote)}
	f.Active = []recording.Interval{{Start: last.T.Add(-time.Duration(silent * float64(time.Second))), End: last.T}}
	f.Text = fmt.Sprintf("%s is gone, or the whole path to it, and answers no probe", last.Remote)
	f.Evidence = []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Value: float64(last.TCP.Probes), Unit: "probes", Source: source.SS("-tino", source.Word("timer"), source.LastRcv, source.LastAck), Origin: "silence",
		Text: fmt.Sprintf("%d %s probes in a row were not answered; nothing came for %s", last.TCP.Probes, last.Timer, units.Lasting(silent))}}
	if alive, ok := peerAlive(k); ok {
		f.Evidence[0].Grade = suspect.Strong
		f.Evidence = append(f.Evidence, alive)
	}
	if last.SendQ > 0 {
		f.Harm = suspect.Harm{Symptom: scene.StreamFreeze, Amount: min(silent, s.Window.Length(s.Window.End).Seconds()), Unit: "s", Text: fmt.Sprintf("%s wait for it", units.Bytes(float64(last.SendQ)))}
	}
	return f
}

// onlyThis is the near end of a connection that is to be closed; "" where its process has others to
// the same far end, and none of them is answered either.
func onlyThis(k *scene.Socket, last recording.Socket) string {
	others := 0
	for _, o := range k.Owner().Sockets {
		if o == k || o.First().Netns != last.Netns || o.First().Remote != last.Remote {
			continue
		}
		if others++; lastTCP(o).Backoff < backedOff {
			return last.Local
		}
	}
	if others > 0 {
		return ""
	}
	return last.Local
}

// patience says how long the kernel goes on, and how to make it shorter. From
// 200 ms the timer doubles up to 120 s (TCP_RTO_MAX, net/ipv4/tcp_timer.c). A connection
// whose peer is proved to be gone can be closed now.
func patience(s *scene.Scene, r *recording.Recording, k *scene.Socket, last recording.Socket, proved bool) suspect.Remedy {
	out := suspect.Remedy{Program: fmt.Sprintf("%s: TCP_USER_TIMEOUT (10,000 ms) and SO_KEEPALIVE.", measure.OrProgram(k.Subject.Comm))}
	if proved {
		out.Now = remedy.Close(s, last.Netns, onlyThis(k, last), last.Remote)
	}
	if v, ok := measure.Sysctl(r, last.Netns, "net.ipv4.tcp_retries2"); ok && v > 8 && v < 100 {
		wait, rto := 0.0, 0.2
		for range int(v) + 1 {
			wait, rto = wait+rto, min(2*rto, 120)
		}
		sooner := suspect.Setting{Kind: "sysctl", Name: "net.ipv4.tcp_retries2", At: suspect.InSpace(last.Netns), Value: "8"}
		out.Permanently = fmt.Sprintf("%s, for all programs: with %.0f it goes on for %s.", remedy.KeptIn(sooner, s), v, strings.TrimSuffix(time.Duration(wait*float64(time.Second)).Round(time.Second).String(), "0s"))
	}
	return out
}

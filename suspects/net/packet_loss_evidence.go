package net

import (
	"fmt"
	"math"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

func lossOnFlow(r *recording.Recording, f *flow) suspect.Finding {
	rows := f.tcpRows()
	first, last := rows[0], rows[len(rows)-1]
	a, b := first.TCP, last.TCP
	events := f.again.Sum()
	retrans := float64(b.TotalRetrans - a.TotalRetrans)
	duplicates := float64(b.DSACKDups - a.DSACKDups)
	counted := recording.Interval{Start: first.T, End: last.T}
	if all := float64(b.TotalRetrans); all > retrans && math.Abs(events-all) <= max(1, measure.Tolerance*all) {
		// All that it ever sent again was seen, some of it before the first look: so are the duplicates.
		retrans, duplicates, counted.Start = all, float64(b.DSACKDups), min(first.T, r.Window().Start)
	}
	again := math.Max(events, retrans)
	reordered := b.ReordSeen - a.ReordSeen
	sent := float64(b.DataSegsOut) - float64(a.DataSegsOut)
	lost := math.Max(0, again-duplicates)
	gone, watched := lostBefore(r, f)
	unsure := false
	out := suspect.Finding{Subject: f.socket.Subject, Active: f.again.Active(),
		Next: "ss -tin 'dst " + recording.Host(f.remote) + "'"}
	sentAgain := source.SS("-tin", source.Retrans, source.DSACKs, source.Word("reord_seen")).And(source.Retransmit)
	piece := func(side suspect.Side, grade suspect.Grade, value float64, origin, text string) {
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: side, Grade: grade, Value: value, Unit: "segments", Source: sentAgain, Origin: origin, Text: text,
			Doubt: measure.LossOf(r, "sockets.retransmits", again)})
	}
	if silent(rows, out.Active[0].Start) {
		piece(suspect.Against, suspect.Decisive, again, "ack", fmt.Sprintf("nothing was acknowledged since the first of %s retransmissions (backoff %d): the peer or the whole path is gone", units.Count(again), b.Backoff))
		out.Text = "the peer fell silent"
		return out
	}
	told := "tcp_info counts"
	if f.socket.First().Wire {
		told = "they are"
	}
	n, same := f.again.AgreeIn(retrans, counted)
	same = same || segmentsOf(n, retrans)
	switch {
	case duplicates >= mostDuplicates*again:
		piece(suspect.Against, suspect.Decisive, duplicates, "retransmit", fmt.Sprintf("of %s segments sent again, %s were reported as duplicates, reordering was seen %d times: nothing was lost", units.Count(again), units.Count(duplicates), reordered))
	case b.NoSACK && !(watched && gone >= (1-fewDuplicates)*lost):
		// Late originals and lost ones look alike to a sender that nobody tells of duplicates.
		unsure = true
		grade := suspect.Strong
		if f.socket.Peer != nil {
			grade = suspect.Weak // what came there tells
		}
		piece(suspect.For, grade, again, "retransmit", fmt.Sprintf("%s segments were sent again, and %s is all that is known to have been needless; %s", units.Count(again), units.Count(duplicates), noSACK))
		out.Evidence = append(out.Evidence, withoutSACK(sentAgain))
	case b.NoSACK:
		lost = gone
		piece(suspect.For, suspect.Decisive, gone, "retransmit", fmt.Sprintf("of %s segments sent again, the first of %s never came to the capture, though later data did", units.Count(again), units.Count(gone)))
	case duplicates <= fewDuplicates*again && same:
		piece(suspect.For, suspect.Decisive, again, "retransmit", fmt.Sprintf("%s retransmissions were seen and %s %s segments sent again; %s of them were reported as duplicates, reordering was seen %d times", units.Count(n), told, units.Count(retrans), units.Count(duplicates), reordered))
	default:
		piece(suspect.For, suspect.Strong, again, "retransmit", fmt.Sprintf("%s retransmissions were seen (%s %s segments), %s of them reported as duplicates", units.Count(n), told, units.Count(retrans), units.Count(duplicates)))
	}
	if p := f.socket.Peer; p != nil && sent > 0 {
		if got, ok := receivedBy(p); ok {
			missing := sent - got
			inFlight := float64(b.Unacked)
			text := fmt.Sprintf("%s data segments were sent, %s came to %s", units.Count(sent), units.Count(got), p.Subject.Name)
			switch tolerance := max(3, 2*measure.Tolerance*lost) + inFlight; {
			case missing < 0.2*again && missing <= tolerance:
				piece(suspect.Against, suspect.Strong, missing, "data_segs", text+": none is missing")
			case math.Abs(missing-lost) <= tolerance && missing <= tolerance:
				// As many may be on their way, on a long round trip: they agree with anything.
				piece(suspect.For, suspect.Weak, missing, "data_segs", text)
			case math.Abs(missing-lost) <= tolerance:
				piece(suspect.For, suspect.Decisive, missing, "data_segs", text)
			}
		}
	}
	out.Text = fmt.Sprintf("%s segments were lost on the way from %s to %s", units.OfAll(lost, sent), recording.Host(f.local), recording.Host(f.remote))
	out.Remedy = suspect.Remedy{Permanently: hopsBetween(f.local, f.remote)}
	if unsure {
		out.Text = fmt.Sprintf("%s segments were sent again from %s to %s; whether they were lost or late is not known", units.OfAll(again, sent), recording.Host(f.local), recording.Host(f.remote))
		out.Next = "a capture at " + recording.Host(f.remote) + ", whether the first of each comes; sysctl net.ipv4.tcp_sack at both ends"
	}
	if sent <= 0 || lost >= measure.LossFelt*sent {
		out.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: lost, Of: max(0, sent), Unit: "packets", Text: fmt.Sprintf("%s segments lost and sent again", units.OfAll(lost, sent))}
	}
	return out
}

func hopsBetween(local, remote string) string {
	return fmt.Sprintf("Look at each hop from %s to %s, in this direction, for drops (tc -s qdisc, ip -s link, ethtool -S), and mend the one that drops.", recording.Host(local), recording.Host(remote))
}

// noSACK is why loss and reordering look alike to a sender.
const noSACK = "SACK is off on this connection, so that the receiver can't report what it had already: lost and late segments look alike"

// withoutSACK is what would have told them apart.
func withoutSACK(from source.Source) suspect.Evidence {
	return suspect.Evidence{Side: suspect.Missing, Source: from, Text: "which of what was sent again the receiver had (DSACK): SACK is off, net.ipv4.tcp_sack at one of the ends"}
}

// lostBefore is how many packets of a flow a capture saw lost before it: their repair
// filled the hole that later data had shown.
func lostBefore(r *recording.Recording, f *flow) (n float64, watched bool) {
	w, ok := wayOf(r, f)
	return float64(w.Filled), ok
}

// wayOf is the captured direction of a sender's socket.
func wayOf(r *recording.Recording, f *flow) (recording.FlowWay, bool) {
	if !f.socket.First().Wire {
		return recording.FlowWay{}, false
	}
	for _, w := range r.Flows {
		if w.Netns != f.netns || w.Proto != "tcp" || w.End < f.socket.First().T {
			continue
		}
		client, server := scene.Address(w.Client), scene.Address(w.Server)
		switch {
		case client == f.local && server == f.remote:
			return w.Up, true
		case server == f.local && client == f.remote:
			return w.Down, true
		}
	}
	return recording.FlowWay{}, false
}

// mostInOne is how many segments one retransmission may carry: 64 KiB of 1,448.
const mostInOne = 45

// segmentsOf reports whether so many segments can have been sent by so many
// retransmissions: the tracepoint fires once for each, the counters add its
// segments (net/ipv4/tcp_output.c, __tcp_retransmit_skb).
func segmentsOf(events, segments float64) bool {
	return events > 0 && segments >= (1-measure.Tolerance)*events && segments <= mostInOne*events
}

// silent reports whether nothing sent was acknowledged after the retransmissions
// began, and the timer has backed off: loss lets some through.
func silent(rows []recording.Socket, begin recording.Time) bool {
	last := rows[len(rows)-1].TCP
	if last.Backoff < 2 {
		return false
	}
	acked := rows[0].TCP.BytesAcked
	for _, row := range rows {
		if row.T <= begin {
			acked = row.TCP.BytesAcked
		}
	}
	return last.BytesAcked <= acked
}

// receivedBy is how many data segments the other end got in the window.
func receivedBy(p *scene.Socket) (float64, bool) {
	var seen []*recording.TCPInfo
	for _, row := range p.Rows {
		if row.TCP != nil {
			seen = append(seen, row.TCP)
		}
	}
	if len(seen) < 2 {
		return 0, false
	}
	return float64(seen[len(seen)-1].DataSegsIn) - float64(seen[0].DataSegsIn), true
}

// someDuplicates: where so much of what was sent again had come, packets are held back on the
// way; of what is sent again for a loss a tenth is needless at the most.
const someDuplicates = 0.25

// lateByResending is what the callers on a way measured: how much of what their calls took
// too long was until something was sent again.
func lateByResending(l *ledger.Ledger, flows []*flow) (suspect.Evidence, bool) {
	share := 0.0
	for _, f := range flows {
		share = max(share, l.OnWay(f.remote, ledger.Loss), l.OnWay(f.local, ledger.Loss))
	}
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.CallTurns.And(source.Of("ss -ti rto")), Origin: "calls",
		Text: fmt.Sprintf("%.0f %% of what calls on this way took too long was until something was sent again", 100*share)}, share >= lossBooked
}

// silentToTheEnd counts connections whose timer has run out again and again when they are seen last, but for those
// whose path swallows them.
func silentToTheEnd(flows []*flow) (n int) {
	for _, f := range flows {
		if f.socket == nil {
			continue
		}
		if rows := measure.TCPRowsOf(f.socket); len(rows) > 0 && rows[len(rows)-1].TCP.Backoff >= backedOff && !swallowed(f.socket) {
			n++
		}
	}
	return n
}

// takenByAnyPath is a segment that each path takes: the MSS of who announces none (RFC 9293, 3.7.1).
const takenByAnyPath = 536

// swallowed reports that the other end is here and alive, and that what it does not get is small.
func swallowed(k *scene.Socket) bool { return aliveHere(k.Peer) && k.Last().SendQ <= takenByAnyPath }

// lossOnPath judges many short connections to one peer together, by the
// counters of their namespace: no dump saw their tcp_info twice.
func lossOnPath(r *recording.Recording, l *ledger.Ledger, k measure.DropKey, flows []*flow) (suspect.Finding, bool) {
	var again measure.Steps
	few := flows[0].few
	for _, f := range flows {
		again = append(again, f.again...)
		few = min(few, f.few)
	}
	n := again.Sum()
	if n < 2*few {
		return suspect.Finding{}, false
	}
	var all measure.Steps
	for _, t := range r.Retransmits {
		if measure.Namespace(r, t.Netns) == k.Netns {
			all = append(all, measure.Step{Interval: measure.OneSecond(t.T), N: float64(t.N)})
		}
	}
	out := suspect.Finding{Subject: recording.Subject{Kind: recording.KindPeer, Netns: k.Netns, Remote: k.Dst}, Active: again.Active(),
		Text: fmt.Sprintf("%s retransmissions were seen on %d connections to it", units.Count(n), len(flows))}
	if len(flows) == 1 {
		out.Subject = recording.Subject{Kind: recording.KindFlow, Netns: k.Netns, Proto: "tcp", Local: flows[0].local, Remote: flows[0].remote}
	}
	for _, f := range flows[:min(len(flows), measure.MostRelated)] {
		if f.socket != nil {
			out.Related = append(out.Related, f.socket.Subject)
		}
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: n, Unit: "segments", Source: source.Retransmit.And(source.SNMP("Tcp", "RetransSegs")).And(source.Netstat("TCPDSACKRecv")), Origin: "retransmit",
		Text: fmt.Sprintf("%s retransmissions were seen", units.Count(n)), Doubt: measure.LossOf(r, "sockets.retransmits", n)}
	counted, ok := measure.Counter(r, k.Netns, "node_netstat_Tcp_RetransSegs")
	duplicates, ok2 := measure.Grew(r, k.Netns, "node_netstat_TcpExt_TCPDSACKRecv")
	if ok && ok2 {
		// A namespace that is not snag's own is first read a moment after the recording began,
		// and what was sent again until then is in no counter.
		grew, _ := counted.Increase()
		events, same := all.AgreeIn(grew, counted.Span())
		e.Text += fmt.Sprintf(", %s in the whole namespace while it was counted (RetransSegs: %s); %s were reported as duplicates", units.Count(events), units.Count(grew), units.Count(duplicates))
		switch {
		case duplicates >= mostDuplicates*n:
			e.Side, e.Grade = suspect.Against, suspect.Decisive
		case (same || segmentsOf(events, grew)) && duplicates <= fewDuplicates*n:
			e.Grade = suspect.Decisive
		}
	}
	if n := silentToTheEnd(flows); 2*n > len(flows) {
		e.Grade = suspect.Strong
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: float64(n), Unit: "connections", Source: source.SS("-tino", source.Backoff, source.LastRcv), Origin: "silence",
			Text: fmt.Sprintf("on %d of these %d connections nothing is acknowledged until the end, however often it is sent again: a peer that is gone, or a path that takes no large packets, looks so too", n, len(flows))})
	}
	out.Evidence = append([]suspect.Evidence{e}, out.Evidence...)
	if duplicates >= someDuplicates*n {
		out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: duplicates, Unit: "segments", Source: source.Netstat("TCPDSACKRecv"), Origin: "dsack",
			Text: fmt.Sprintf("the receivers had %s of what was sent again already: it came late, and was not lost", units.OfAll(duplicates, n))})
	} else if late, ok := lateByResending(l, flows); ok {
		out.Evidence = append(out.Evidence, late)
	}
	sent, _ := measure.Grew(r, k.Netns, "node_netstat_Tcp_OutSegs")
	if lost := max(0, n-duplicates); sent <= 0 || lost >= measure.LossFelt*sent {
		out.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: lost, Of: sent, Unit: "packets", Text: fmt.Sprintf("%s segments lost and sent again", units.OfAll(lost, sent))}
	}
	return out, true
}

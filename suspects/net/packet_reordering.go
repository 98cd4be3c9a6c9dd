package net

import (
	"fmt"
	"slices"
	"time"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var packetReordering = &suspect.Suspect{
	Name:  "packet-reordering",
	Title: "packets that overtake each other",
	About: "Packets of a connection take ways of different length: a LAG or ECMP that spreads by packet, a flow director that moves a flow between queues. The sender takes the late ones for lost, sends them again for nothing and slows down; the receiver keeps back what came early. Loss looks alike on the receiver (out-of-order queue), but then nothing is reported as a duplicate; a path that duplicates packets reports duplicates, and nothing was sent again.",
	Needs: []suspect.Need{
		{Measure: "sockets.retransmits", Must: true, Why: "segments sent again, by flow"},
		{Measure: "sockets.diag", Must: true, Why: "tcp_info of the flow: duplicates that the receiver reported, reordering seen"},
		{Measure: "host.netstat", Must: false, Why: "TCPFastRetrans, TCPSACKReorder and DSACKs of the namespace"},
	},
	For: []string{
		"decisive: what was sent again and what the receiver reported as duplicates (DSACK) is the same number, and later segments were acknowledged first",
		"strong: most of it was reported as duplicates, with reordering seen; a quarter of it, on short connections with late calls",
		"strong: all that was sent came to the other end, which is on this host too",
	},
	Against: []string{
		"decisive: hardly anything of what was sent again was a duplicate: it was lost",
		"decisive: duplicates were reported and nothing was sent again: the path duplicates packets",
		"strong: duplicates, and most of what was sent again a timer sent, or (capture) hardly any reordering and mostly timeouts: late ACKs, loss probes",
		"trap: TCPOFOQueue and rcv_ooopack grow more by loss",
	},
	InFiles:  map[string][]string{"sockets.diag": {"pcap.flows"}},
	LeadsTo:  []suspect.Lead{{To: scene.ThroughputPlateau, Lag: 5 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.StreamLate, Lag: 5 * time.Second}},
	Claims:   []ledger.Account{ledger.Loss, ledger.Queue},
	Remedy:   suspect.Remedy{Permanently: "Keep each flow on one way. LAG and ECMP hash by layer 3+4 (bond xmit_hash_policy layer3+4, net.ipv4.fib_multipath_hash_policy = 1). No balancing by packet, no steering that moves live flows (ethtool -K DEVICE ntuple off)."},
	Verified: "TCPSACKReorder and TCPDSACKRecv do not grow",
	Next:     "ss -tin; nstat -az TcpRetransSegs TcpExtTCPSACKReorder TcpExtTCPDSACKRecv",

	WeighBooked: weighPacketReordering,
}

// fewOverDuplicates: a lone duplicate is a loss probe that came after the ACK.
const fewOverDuplicates = 10

// spuriousFelt: on loopback, loss probes on a busy CPU make 1 duplicate in 2,000
// segments; a path that reorders makes 1 in 100 and more.
const spuriousFelt = 0.002

// fewOvertaken, of what was sent again: the rest has another cause.
const fewOvertaken = 0.2

func weighPacketReordering(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) []suspect.Finding {
	var out []suspect.Finding
	judged := map[*scene.Socket]bool{}
	few := map[uint64][]*flow{} // connections that no two dumps had, or that sent little again, by namespace
	var spaces []uint64
	listeners := listening(s)
	reordered, ordered := onPaths{}, onPaths{}
	for _, f := range resent(s, r) {
		if turnedAway(r, listeners, f) || neverHeard(f) {
			continue
		}
		alone := f.socket != nil && len(f.tcpRows()) >= 2
		if alone {
			judged[f.socket] = true
		}
		if !alone || f.again.Sum() < measure.FewRetransmits {
			if few[f.netns] == nil {
				spaces = append(spaces, f.netns)
			}
			few[f.netns] = append(few[f.netns], f)
			continue
		}
		found := reorderingOn(r, f)
		if slices.ContainsFunc(found.Evidence, func(e suspect.Evidence) bool { return e.Side == suspect.Against }) {
			ordered.add(f, found)
		} else {
			reordered.add(f, found)
		}
	}
	out = append(reordered.worst(), ordered.worst()...)
	for _, k := range s.Sockets {
		if f, ok := duplicatesOnly(k); ok && !judged[k] {
			out = append(out, f)
		}
	}
	for _, id := range spaces {
		if f, ok := reorderingIn(r, l, id, few[id]); ok {
			out = append(out, f)
		}
	}
	return out
}

func reorderingOn(r *recording.Recording, f *flow) suspect.Finding {
	rows := f.tcpRows()
	first, last := rows[0], rows[len(rows)-1]
	a, b := first.TCP, last.TCP
	again := float64(b.TotalRetrans - a.TotalRetrans)
	duplicates := float64(b.DSACKDups - a.DSACKDups)
	reordered := float64(b.ReordSeen - a.ReordSeen)
	sent := float64(b.DataSegsOut) - float64(a.DataSegsOut)
	n, _ := f.again.Between(recording.Interval{Start: first.T, End: last.T})
	fast, overtaken := overtakenIn(r, f.netns, reordered, again)
	if w, ok := wayOf(r, f); ok && 2*w.Timeouts > w.Resent && reordered < fewOvertaken*again {
		overtaken = false // its timer ran out: answers came late, and hardly any packet did
	}
	from, to := recording.Host(f.local), recording.Host(f.remote)
	out := suspect.Finding{Subject: f.socket.Subject, Active: f.again.Active(), Next: "ss -tin 'dst " + to + "'",
		Text: fmt.Sprintf("packets from %s to %s overtake each other: %s segments were sent again for nothing", from, to, units.OfAll(min(duplicates, again), sent))}
	if f.socket.Peer != nil {
		out.Related = append(out.Related, f.socket.Peer.Subject)
	}
	told := "tcp_info counts"
	if f.socket.First().Wire {
		told = "they are"
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: duplicates, Unit: "segments", Origin: "dsack", Doubt: measure.LossOf(r, "sockets.retransmits", again),
		Source: source.SS("-tin", source.Retrans, source.DSACKs, source.Word("reord_seen")).And(source.Netstat("TCPFastRetrans")).And(source.Retransmit),
		Text: fmt.Sprintf("%s retransmissions were seen, %s %s segments sent again; the receiver reported %s as duplicates, reordering was seen %s times, and %s segments were sent again since later ones came first",
			units.Count(n), told, units.Count(again), units.Count(duplicates), units.Count(reordered), units.Count(fast))}
	switch {
	case b.NoSACK && duplicates < 0.5*again && (f.socket.First().Wire || f.socket.Peer == nil):
		e.Text = fmt.Sprintf("%s segments were sent again, %s of them needlessly as far as is known, reordering was seen %s times; %s", units.Count(again), units.Count(duplicates), units.Count(reordered), noSACK)
		out.Text = fmt.Sprintf("%s segments were sent again from %s to %s; whether others had overtaken them is not known", units.OfAll(again, sent), from, to)
		out.Next = "a capture at " + to + ", whether the first of each comes; sysctl net.ipv4.tcp_sack at both ends"
		out.Evidence = append(out.Evidence, withoutSACK(e.Source))
		if gone, ok := lostBefore(r, f); ok && gone >= (1-fewDuplicates)*(again-duplicates) {
			e.Side, e.Grade = suspect.Against, suspect.Decisive
			e.Text += fmt.Sprintf("; but the first of %s never came to the capture: they were lost", units.Count(gone))
			out.Evidence = nil
		}
	case duplicates < mostDuplicates*again && duplicates <= fewDuplicates*again:
		e.Side, e.Grade = suspect.Against, suspect.Decisive
		e.Text += ": what was sent again had been lost"
	case !overtaken && duplicates > again+fewOverDuplicates:
		e.Side, e.Grade = suspect.Against, suspect.Decisive
		e.Text += ": the path duplicates packets, and they keep their order"
	case !overtaken:
		e.Side, e.Text = suspect.Against, e.Text+": late ACKs or loss probes, and no reordering"
	case duplicates >= mostDuplicates*again && duplicates >= spuriousFelt*sent:
		e.Grade = suspect.Decisive
	case duplicates < 0.5*again || duplicates < spuriousFelt*sent:
		e.Grade = suspect.Weak
	}
	out.Evidence = append(out.Evidence, e)
	if p := f.socket.Peer; p != nil {
		out.Evidence = append(out.Evidence, arrivedOutOfOrder(p)...)
		if got, ok := receivedBy(p); ok && e.Side == suspect.For && sent-got < fewDuplicates*again && sent-got <= 3+float64(b.Unacked) {
			out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: sent - got, Unit: "segments", Source: source.SS("-tin data_segs_out, data_segs_in at both ends").With(source.DataSegsOut, source.DataSegsIn), Origin: "data_segs",
				Text: fmt.Sprintf("%s data segments were sent, those sent again among them, and %s came to %s: none was lost, and what was sent again was needless", units.Count(sent), units.Count(got), p.Subject.Name)})
		}
	}
	out.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("Keep each flow from %s to %s on one way: LAG and ECMP hash by layer 3+4, no balancing by packet, no steering that moves live flows.", from, to)}
	out.Harm = wasted(min(duplicates, again), sent)
	return out
}

// overtakenIn reports whether segments overtook others: half of what was sent again or more was, since
// later ones were acknowledged first (TCPFastRetrans). Where a timer sent most of it (loss probes,
// timeouts), ACKs were late, as those of a busy receiver, and a few ACKs out of order prove no more.
// reord_seen alone misses it: held back for longer than a round trip, a segment is acknowledged
// before it comes.
func overtakenIn(r *recording.Recording, netns uint64, reordered, again float64) (fast float64, overtaken bool) {
	fast, counted := measure.Grew(r, netns, "node_netstat_TcpExt_TCPFastRetrans")
	if !counted {
		return fast, reordered > 0
	}
	return fast, 2*fast >= again
}

// wasted is the share of what was sent that was sent for nothing. The sender
// slows down besides, which no counter tells.
func wasted(again, sent float64) suspect.Harm {
	if sent <= 0 || again <= 0 {
		return suspect.Harm{}
	}
	return suspect.Harm{Symptom: scene.ThroughputPlateau, Amount: again / sent, Of: 1, Unit: "ratio",
		Text: fmt.Sprintf("%s segments (%.1f %%) were sent twice for nothing, and the sender slowed down for each", units.OfAll(again, sent), 100*again/sent)}
}

// arrivedOutOfOrder is what the receiver on this host says. Loss fills the same
// queue, so that it proves nothing.
func arrivedOutOfOrder(p *scene.Socket) []suspect.Evidence {
	rows := measure.TCPRowsOf(p)
	if len(rows) < 2 {
		return nil
	}
	n := float64(rows[len(rows)-1].TCP.RcvOOO - rows[0].TCP.RcvOOO)
	if n <= 0 {
		return nil
	}
	return []suspect.Evidence{{Side: suspect.For, Grade: suspect.Weak, Value: n, Unit: "segments", Source: source.SS("-tin", source.OutOfOrder), Origin: "receiver",
		Text: fmt.Sprintf("%s segments came out of order at %s; loss does that too", units.Count(n), p.Subject.Name)}}
}

// duplicatesOnly: the receiver reported duplicates of a flow on which hardly
// anything was sent again.
func duplicatesOnly(k *scene.Socket) (suspect.Finding, bool) {
	rows := measure.TCPRowsOf(k)
	if len(rows) < 2 {
		return suspect.Finding{}, false
	}
	a, b := rows[0].TCP, rows[len(rows)-1].TCP
	duplicates, again := float64(b.DSACKDups-a.DSACKDups), float64(b.TotalRetrans-a.TotalRetrans)
	if duplicates < fewOverDuplicates || duplicates < 2*again {
		return suspect.Finding{}, false
	}
	return suspect.Finding{Subject: k.Subject, Text: fmt.Sprintf("the path delivers packets twice: %s duplicates", units.Count(duplicates)),
		Evidence: []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: duplicates, Unit: "segments", Source: source.SS("-tin", source.DSACKs, source.Retrans), Origin: "dsack",
			Text: fmt.Sprintf("%s duplicates were reported and %s segments were sent again: the path duplicates packets, it does not reorder", units.Count(duplicates), units.Count(again))}}}, true
}

// reorderingIn judges connections together of which each has too little to tell, by the
// counters of their namespace.
func reorderingIn(r *recording.Recording, l *ledger.Ledger, netns uint64, flows []*flow) (suspect.Finding, bool) {
	var seen measure.Steps
	for _, f := range flows {
		seen = append(seen, f.again...)
	}
	counted, ok := measure.Counter(r, netns, "node_netstat_Tcp_RetransSegs")
	again, _ := counted.Increase()
	duplicates, ok2 := measure.Grew(r, netns, "node_netstat_TcpExt_TCPDSACKRecv")
	reordered, ok3 := measure.Grew(r, netns, "node_netstat_TcpExt_TCPSACKReorder")
	n := seen.Sum()
	if !ok || !ok2 || !ok3 || n < 2*measure.FewRetransmits || n < 0.5*again || duplicates < fewDuplicates*again {
		return suspect.Finding{}, false
	}
	sent, _ := measure.Grew(r, netns, "node_netstat_Tcp_OutSegs")
	fast, overtaken := overtakenIn(r, netns, reordered, again)
	// A queue that is kept full drops packets, and holds others until a timer sends them again: such
	// ones are reported as duplicates too, and no ACK comes out of order.
	mostlyGone := duplicates < 0.5*again && reordered == 0
	_, same := seen.AgreeIn(again, counted.Span())
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: duplicates, Unit: "segments", Origin: "dsack", Doubt: measure.LossOf(r, "sockets.retransmits", n),
		Source: source.SNMP("Tcp", "RetransSegs").And(source.Netstat("TCPDSACKRecv", "TCPSACKReorder", "TCPFastRetrans")),
		Text: fmt.Sprintf("%s segments of its connections were sent again (RetransSegs %s), %s of them since later ones came first; %s were reported as duplicates, ACKs came out of order %s times",
			units.Count(n), units.Count(again), units.Count(fast), units.Count(duplicates), units.Count(reordered))}
	switch {
	case !overtaken:
		e.Side = suspect.Against
	case duplicates < spuriousFelt*sent || mostlyGone:
		e.Grade = suspect.Weak
	case duplicates >= mostDuplicates*again && (same || segmentsOf(n, again)):
		e.Grade = suspect.Decisive
	}
	all := []suspect.Evidence{e}
	if late, ok := lateByResending(l, flows); ok && e.Side == suspect.For && !mostlyGone && duplicates >= someDuplicates*again {
		all = append(all, late)
	}
	out := suspect.Finding{Subject: recording.Subject{Kind: recording.KindNetns, Netns: netns}, Active: seen.Active(), Evidence: all,
		Text: "packets of its connections overtake each other", Harm: wasted(min(duplicates, again), sent)}
	if to := mostlyTo(flows); to != "" {
		out.Subject = recording.Subject{Kind: recording.KindPeer, Netns: netns, Remote: to}
		out.Text = "packets to it overtake each other"
	}
	for _, f := range flows[:min(len(flows), measure.MostRelated)] {
		if f.socket != nil {
			out.Related = append(out.Related, f.socket.Subject)
		}
	}
	return out, true
}

// mostlyTo is the host to which nine tenths of what was sent again went; "" for none.
func mostlyTo(flows []*flow) string {
	sum, most, to := 0.0, 0.0, ""
	by := map[string]float64{}
	for _, f := range flows {
		host, n := recording.Host(f.remote), f.again.Sum()
		sum += n
		if by[host] += n; by[host] > most {
			most, to = by[host], host
		}
	}
	if most < 0.9*sum {
		return ""
	}
	return to
}

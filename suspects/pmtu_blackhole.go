package suspects

import (
	"fmt"
	"sort"
	"time"

	"snag/recording"
	"snag/scene"
)

var pmtuBlackhole = &Suspect{
	Name:  "pmtu-blackhole",
	Title: "a hop takes only smaller packets, and the message that says so is lost",
	About: "Small writes come through and full segments do not: a tunnel or link on the way has a smaller MTU, drops what may not be fragmented, and its ICMP \"fragmentation needed\" is filtered on the way back. The connection is established, logs in, and then stands still. To the sender alone a path that lost everything looks the same: only a probe by size tells.",
	Needs: []Need{
		{"sockets.diag", true, "tcp_info of the sender: what was acknowledged, segment size, back-off"},
		{"drops.kfree_skb", false, "packets too big for a hop on this host, and its ICMP that was dropped"},
		{"host.netstat", false, "FragFails of the hop, and the ICMP that came to the sender"},
		{"routes.table", false, "the interface that the hop sends by, and a path MTU that was learnt"},
		{"routes.rules", false, "the rule that drops the ICMP"},
	},
	For: []string{
		"decisive: a hop on this host dropped the flow's segments as too big (and FragFails counted as many), and the sender has backed off and sends them no smaller",
		"strong: the hop's ICMP was dropped by a firewall",
		"strong: after some bytes nothing was acknowledged, the timer backed off: full segments, or everything",
		"decisive (capture): a hop says which size it takes, and the sender goes on with larger packets",
		"strong (capture): a small segment behind those that never arrive does (SACK)",
		"strong: small segments of another connection of the same two hosts come through meanwhile",
	},
	Against: []string{
		"decisive: the sender learnt the path's MTU and its segments are smaller: the message came",
		"strong: full segments of another connection of the same two hosts come through",
		"trap: total loss looks alike to the sender: then nobody is named",
	},
	InFiles: map[string][]string{"sockets.diag": {"pcap.flows"}},
	LeadsTo: []Lead{
		{"uplink-blackhole", 5 * time.Second},
		{scene.StreamFreeze, 5 * time.Second}, {scene.RequestLatency, 5 * time.Second}, {scene.ConnectionErrors, 30 * time.Second}, {scene.ThroughputPlateau, 5 * time.Second}, {"packet-loss", 5 * time.Second}, {"half-open-peer", 10 * time.Second}, {"uplink-blackhole", 10 * time.Second}},
	Remedy: Remedy{
		Now:         "sysctl -w net.ipv4.tcp_mtu_probing=1",
		Permanently: "Let ICMP type 3 code 4 (ICMPv6 type 2) through, or clamp the MSS at the hop (nft: tcp option maxseg size set rt mtu). Or net.ipv4.tcp_mtu_probing = 1 at the sender, in /etc/sysctl.d.",
	},
	Verified: "the sender's mss shrinks, and bytes_acked goes on",
	Next:     "ping -M do -c 3 -s 1472 PEER; ping -M do -c 3 -s 1200 PEER",
	Weigh:    weighPMTU,
}

// stuckBackoff: the timer has run out three times for the same segment, the third
// time 1.4 s and more after it was first sent; plain loss of a few per cent does
// that to one segment in 10,000.
const stuckBackoff = 2

// tooBig tells what a hop dropped for its size. Kernels before 5.18 give no reason
// for it.
func tooBig(d recording.Drop) bool {
	return d.Reason == "PKT_TOO_BIG" || d.Reason == "" && (d.Place == "ip_forward" || d.Place == "ip6_forward")
}

func weighPMTU(s *scene.Scene, r *recording.Recording) []Finding {
	by, order := dropsBy(r.Drops, func(d recording.Drop) (dropKey, bool) {
		netns := namespace(r, d.Netns)
		route, _ := routeTo(r, netns, recording.Host(d.Dst))
		return dropKey{netns: netns, device: route.Device}, !d.Benign && d.Dst != "" && tooBig(d)
	})
	var out []Finding
	atHop := map[scene.NodeID]bool{}
	for _, k := range order {
		// Without a reason it may have been another's fault in the same function.
		fails, _, ok := countedIn(r, k.netns, dropSteps(by[k]), "node_netstat_Ip_FragFails", "node_netstat_Ip6_FragFails")
		if by[k][0].Reason == "" && (!ok || fails == 0) {
			continue
		}
		out = append(out, hopFinding(s, r, k, by[k], atHop))
	}
	return append(out, senderFindings(s, r, atHop)...)
}

// hopFinding weighs a hop on this host that drops packets for their size.
func hopFinding(s *scene.Scene, r *recording.Recording, k dropKey, rows []recording.Drop, atHop map[scene.NodeID]bool) Finding {
	all := dropSteps(rows)
	n := all.sum()
	mtu := mtuOf(r, k.netns, k.device)
	f := Finding{Subject: recording.Subject{Kind: recording.KindInterface, Netns: k.netns, Device: k.device}, Active: all.active(), Related: senders(s, r, rows)}
	if k.device == "" {
		f.Subject.Kind = recording.KindNetns
	}
	var stuck []*scene.Socket
	stalled, adapted := 0.0, 0
	for _, d := range byEnds(rows) {
		sender := holderOf(s, r, d.Proto, d.Src, d.Dst)
		if sender == nil {
			continue
		}
		if seconds, ok := standsStill(sender, mtu); ok {
			stuck = append(stuck, sender)
			stalled = max(stalled, seconds)
			// It is sent again at ever longer intervals: between the drops it stands as still.
			f.Active = append(f.Active, stillFrom(sender, seconds, s.Window))
			atHop[sender.ID] = true
		} else {
			adapted++
		}
	}
	f.Active = mergeIntervals(f.Active, joined)
	what := fmt.Sprintf("%s packets were too big for %s and dropped", count(n), k.device)
	if mtu > 0 {
		what = fmt.Sprintf("%s packets were too big for %s (MTU %s) and dropped", count(n), k.device, count(float64(mtu)))
	}
	e := Evidence{Side: For, Grade: Strong, Value: n, Unit: "packets", Source: "tracepoint skb:kfree_skb PKT_TOO_BIG; /proc/net/snmp Ip FragFails", Origin: "too big", Text: what, Doubt: lossOf(r, "drops.kfree_skb", n)}
	if fails, _, ok := countedIn(r, k.netns, all, "node_netstat_Ip_FragFails", "node_netstat_Ip6_FragFails"); ok {
		e.Text += fmt.Sprintf(" (FragFails of the namespace: %s)", count(fails))
	}
	f.Text = what
	if len(stuck) == 0 {
		if adapted > 0 {
			e.Side, e.Grade = Against, Decisive
			e.Text += fmt.Sprintf("; the %s that sent them went on: the message that says so came", plural(adapted, "connection"))
		} else {
			e.Grade = Weak
			f.Next = inNetns(s, k.netns, "tcpdump -ni any 'icmp[0]=3 and icmp[1]=4'")
		}
		f.Evidence = []Evidence{e}
		return f
	}
	sort.Slice(stuck, func(i, j int) bool { return stuck[i].ID < stuck[j].ID })
	worst := lastTCP(stuck[0])
	e.Grade = Decisive
	e.Text += fmt.Sprintf("; %s still sends segments of %s bytes and has %s acknowledged, cwnd %d, backoff %d",
		stuck[0].Subject.Name, count(float64(worst.SndMSS)), count(float64(worst.BytesAcked)), worst.Cwnd, worst.Backoff)
	f.Evidence = append(f.Evidence, e)
	f.Evidence = append(f.Evidence, icmpDropped(s, r, k.netns, stuck)...)
	f.Text = fmt.Sprintf("%s, and the message that says so does not come: %s", what, plural(len(stuck), "connection")+" stand still")
	if len(stuck) == 1 {
		f.Text = what + ", and the message that says so does not come: " + stuck[0].Subject.Name + " stands still"
	}
	f.Settings = pathSettings(r, stuck, mtu)
	f.Remedy = Remedy{Now: now(s, r, f.Settings),
		Permanently: joinParts("Let ICMP type 3 code 4 through between here and the sender, or clamp the MSS in the firewall's forward chain: oifname "+k.device+" tcp flags syn tcp option maxseg size set rt mtu. Until then:", kept(s, r, f.Settings))}
	f.Calls = []Call{{recording.Subject{Name: "who runs the hop"}, "let ICMP type 3 code 4 (ICMPv6 type 2) through, or clamp the MSS: nft add rule inet FILTER forward oifname " + k.device + " tcp flags syn tcp option maxseg size set rt mtu",
		"every sender by way of it meets the same, those on other hosts too"}}
	f.Harm = Harm{Symptom: scene.StreamFreeze, Amount: stalled, Of: s.Window.Length(s.Window.End).Seconds(), Unit: "s",
		Text: fmt.Sprintf("%s stood still for %.0f s", plural(len(stuck), "connection"), stalled)}
	return f
}

// headers of a TCP segment without options: IPv4 and TCP. What is too big by this
// is too big with options and in IPv6.
const headers = 40

// standsStill tells whether a sender has had nothing acknowledged for the end of the
// window, has backed off, and sends segments that the MTU (0: unknown) does not
// take; and for how many seconds.
func standsStill(k *scene.Socket, mtu int) (seconds float64, ok bool) {
	rows := (&flow{socket: k}).tcpRows()
	if len(rows) == 0 || k.First().Proto != "tcp" {
		return 0, false
	}
	last := rows[len(rows)-1]
	since := last.T
	for _, row := range rows {
		if row.TCP.BytesAcked == last.TCP.BytesAcked {
			since = row.T
			break
		}
	}
	// The row may be older than the standstill: LastAck tells since when, as far as
	// the first row goes.
	seconds = max(last.T.Sub(since).Seconds(), min(last.TCP.LastAck, last.T.Sub(rows[0].T).Seconds()))
	if last.TCP.Backoff < stuckBackoff || last.TCP.Unacked == 0 || last.TCP.BytesAcked <= 1 {
		return 0, false
	}
	if mtu > 0 && last.TCP.SndMSS+headers <= mtu {
		return 0, false
	}
	return seconds, true
}

// stillFrom is when a sender stood still for the last seconds of its rows: from the
// window's start where it did when anybody looked first.
func stillFrom(k *scene.Socket, seconds float64, window recording.Interval) recording.Interval {
	last := k.Last().T
	i := recording.Interval{Start: last.Add(-time.Duration(seconds * 1e9)), End: last}
	if i.Start <= k.First().T.Add(time.Second) {
		i.Start = window.Start
	}
	return i
}

func lastTCP(k *scene.Socket) recording.TCPInfo {
	for i := len(k.Rows) - 1; i >= 0; i-- {
		if k.Rows[i].TCP != nil {
			return *k.Rows[i].TCP
		}
	}
	return recording.TCPInfo{}
}

// icmpDropped looks for the message: dropped by a firewall at the hop or at the
// sender.
func icmpDropped(s *scene.Scene, r *recording.Recording, hop uint64, stuck []*scene.Socket) (out []Evidence) {
	spaces := []uint64{hop}
	for _, k := range stuck {
		if id := k.First().Netns; id != spaces[len(spaces)-1] {
			spaces = append(spaces, id)
		}
	}
	for _, netns := range spaces {
		var all steps
		for _, d := range r.Drops {
			if namespace(r, d.Netns) == netns && (d.Proto == "icmp" || d.Proto == "icmpv6") && becauseOf(d, "NETFILTER_DROP", "nf_hook_slow") {
				all = append(all, step{oneSecond(d.T), float64(d.N)})
			}
		}
		n := all.sum()
		if n == 0 {
			continue
		}
		e := Evidence{Side: For, Grade: Strong, Value: n, Unit: "packets", Source: "tracepoint skb:kfree_skb NETFILTER_DROP; nft list ruleset", Origin: "NETFILTER_DROP",
			Text: fmt.Sprintf("a firewall dropped %s ICMP packets in %s", count(n), spaceName(s, netns))}
		if rule, hits, ok := ruleThatDropped(r, netns, "", all); ok {
			e.Text += fmt.Sprintf(": rule %s (%s packets)", ruleName(rule), count(hits))
		}
		return append(out, e)
	}
	return out
}

func spaceName(s *scene.Scene, netns uint64) string {
	if name := s.NetnsName(netns); name != "" {
		return "namespace " + name
	}
	return "the host's own namespace"
}

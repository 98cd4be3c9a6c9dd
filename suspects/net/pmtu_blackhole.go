package net

import (
	"fmt"
	"sort"
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

var pmtuBlackhole = &suspect.Suspect{
	Name:  "pmtu-blackhole",
	Title: "a hop takes only smaller packets, and the message that says so is lost",
	About: "Small writes come through and full segments do not: a tunnel or link on the way has a smaller MTU, drops what may not be fragmented, and its ICMP \"fragmentation needed\" is filtered on the way back. The connection is established, logs in, and then stops. To the sender alone a path that lost everything looks the same: only a probe by size tells.",
	Needs: []suspect.Need{
		{Measure: "sockets.diag", Must: true, Why: "tcp_info of the sender: what was acknowledged, segment size, back-off"},
		{Measure: "drops.kfree_skb", Must: false, Why: "packets too big for a hop on this host, and its ICMP that was dropped"},
		{Measure: "host.netstat", Must: false, Why: "FragFails of the hop, and the ICMP that came to the sender"},
		{Measure: "routes.table", Must: false, Why: "the interface that the hop sends by, and a path MTU that was learnt"},
		{Measure: "routes.rules", Must: false, Why: "the rule that drops the ICMP"},
	},
	For: []string{
		"decisive: a hop on this host dropped the flow's segments as too big (and FragFails counted as many), and the sender has backed off and sends them no smaller",
		"strong: the hop's ICMP was dropped by a firewall",
		"strong: after some bytes nothing was acknowledged, the timer backed off: full segments, or everything",
		"decisive (captures of both ends): packets of one size leave one end and never arrive at the other, while all smaller ones do",
		"decisive (capture): a hop says which size it takes, and the sender goes on with larger packets",
		"strong (capture): a small segment behind those that never arrive does (SACK)",
		"strong: small segments of another connection of the same two hosts come through meanwhile",
	},
	Against: []string{
		"decisive: the sender learnt the path's MTU and its segments are smaller: the message came",
		"strong: full segments of another connection of the same two hosts come through",
		"decisive (capture): packets as large of the same connection had been acknowledged before",
		"trap: total loss looks the same to the sender: then no culprit is named",
	},
	InFiles: map[string][]string{"sockets.diag": {"pcap.flows"}},
	LeadsTo: []suspect.Lead{
		{To: "uplink-blackhole", Lag: 5 * time.Second},
		{To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.ConnectionErrors, Lag: 30 * time.Second}, {To: scene.ThroughputPlateau, Lag: 5 * time.Second}, {To: "packet-loss", Lag: 5 * time.Second}, {To: "half-open-peer", Lag: 10 * time.Second}, {To: "uplink-blackhole", Lag: 10 * time.Second}},
	Remedy: suspect.Remedy{
		Now:         "sysctl -w net.ipv4.tcp_mtu_probing=1",
		Permanently: letICMPThrough,
	},
	Verified: "the sender's mss shrinks, and bytes_acked goes on",
	Next:     "ping -M do -c 3 -s 1472 PEER; ping -M do -c 3 -s 1200 PEER",
	Weigh:    weighPMTU,
}

const letICMPThrough = "Let ICMP type 3 code 4 (ICMPv6 type 2) through, or clamp the MSS at the hop (nft: tcp option maxseg size set rt mtu). Or net.ipv4.tcp_mtu_probing = 1 at the sender, in /etc/sysctl.d."

// stuckBackoff: the timer has run out three times for the same segment, the third
// time 1.4 s and more after it was first sent; plain loss of a few per cent does
// that to one segment in 10,000.
const stuckBackoff = 2

// tooBig reports what a hop dropped for its size. Kernels before 5.18 give no reason
// for it.
func tooBig(d recording.Drop) bool {
	return d.Reason == "PKT_TOO_BIG" || d.Reason == "" && (d.Place == "ip_forward" || d.Place == "ip6_forward")
}

func weighPMTU(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	by, order := measure.DropsBy(r.Drops, func(d recording.Drop) (measure.DropKey, bool) {
		netns := measure.Namespace(r, d.Netns)
		route, _ := measure.RouteTo(r, netns, recording.Host(d.Dst))
		return measure.DropKey{Netns: netns, Device: route.Device}, !d.Benign && d.Dst != "" && tooBig(d)
	})
	var out []suspect.Finding
	atHop := map[scene.NodeID]bool{}
	for _, k := range order {
		// Without a reason it may have been another's fault in the same function.
		fails, _, ok := countedIn(r, k.Netns, measure.DropSteps(by[k]), "node_netstat_Ip_FragFails", "node_netstat_Ip6_FragFails")
		if by[k][0].Reason == "" && (!ok || fails == 0) {
			continue
		}
		out = append(out, hopFinding(s, r, k, by[k], atHop))
	}
	if both := vanishedLarge(r); len(both) > 0 {
		return append(out, both...)
	}
	return append(out, senderFindings(s, r, atHop)...)
}

// hopFinding weighs a hop on this host that drops packets for their size.
func hopFinding(s *scene.Scene, r *recording.Recording, k measure.DropKey, rows []recording.Drop, atHop map[scene.NodeID]bool) suspect.Finding {
	all := measure.DropSteps(rows)
	n := all.Sum()
	mtu := mtuOf(r, k.Netns, k.Device)
	f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindInterface, Netns: k.Netns, Device: k.Device}, Active: all.Active(), Related: measure.Senders(s, r, rows)}
	if k.Device == "" {
		f.Subject.Kind = recording.KindNetns
	}
	var stuck []*scene.Socket
	stalled, adapted := 0.0, 0
	for _, d := range measure.ByEnds(rows) {
		sender := measure.HolderOf(s, r, d.Proto, d.Src, d.Dst)
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
	f.Active = intervals.Merge(f.Active, measure.Joined)
	what := fmt.Sprintf("%s packets were too big for %s and dropped", units.Count(n), k.Device)
	if mtu > 0 {
		what = fmt.Sprintf("%s packets were too big for %s (MTU %s) and dropped", units.Count(n), k.Device, units.Count(float64(mtu)))
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: n, Unit: "packets", Source: source.Drops("PKT_TOO_BIG").And(source.SNMP("Ip", "FragFails")), Origin: "too big", Text: what, Doubt: measure.LossOf(r, "drops.kfree_skb", n)}
	if fails, _, ok := countedIn(r, k.Netns, all, "node_netstat_Ip_FragFails", "node_netstat_Ip6_FragFails"); ok {
		e.Text += fmt.Sprintf(" (FragFails of the namespace: %s)", units.Count(fails))
	}
	f.Text = what
	if len(stuck) == 0 {
		if adapted > 0 {
			e.Side, e.Grade = suspect.Against, suspect.Decisive
			e.Text += fmt.Sprintf("; the %s that sent them went on: the message that says so came", units.Plural(adapted, "connection"))
		} else {
			e.Grade = suspect.Weak
			f.Next = remedy.InNetns(s, k.Netns, "tcpdump -ni any 'icmp[0]=3 and icmp[1]=4'")
		}
		f.Evidence = []suspect.Evidence{e}
		return f
	}
	sort.Slice(stuck, func(i, j int) bool { return stuck[i].ID < stuck[j].ID })
	worst := lastTCP(stuck[0])
	e.Grade = suspect.Decisive
	e.Text += fmt.Sprintf("; %s still sends segments of %s bytes and has %s acknowledged, cwnd %d, backoff %d",
		stuck[0].Subject.Name, units.Count(float64(worst.SndMSS)), units.Count(float64(worst.BytesAcked)), worst.Cwnd, worst.Backoff)
	f.Evidence = append(f.Evidence, e)
	f.Evidence = append(f.Evidence, icmpDropped(s, r, k.Netns, stuck)...)
	f.Text = fmt.Sprintf("%s, and the message that says so does not come: %s", what, units.Plural(len(stuck), "connection")+" stopped")
	if len(stuck) == 1 {
		f.Text = what + ", and the message that says so does not come: " + stuck[0].Subject.Name + " stops"
	}
	f.Settings = pathSettings(r, stuck, mtu)
	f.Remedy = suspect.Remedy{Now: remedy.Now(s, r, f.Settings),
		Permanently: remedy.Join("Let ICMP type 3 code 4 through between here and the sender, or clamp the MSS in the firewall's forward chain: oifname "+k.Device+" tcp flags syn tcp option maxseg size set rt mtu. Until then:", remedy.Kept(s, r, f.Settings))}
	f.Calls = []suspect.Call{{Who: recording.Subject{Name: "who runs the hop"}, Do: "let ICMP type 3 code 4 (ICMPv6 type 2) through, or clamp the MSS: nft add rule inet FILTER forward oifname " + k.Device + " tcp flags syn tcp option maxseg size set rt mtu",
		Why: "every sender by way of it meets the same, those on other hosts too"}}
	f.Harm = suspect.Harm{Symptom: scene.StreamFreeze, Amount: stalled, Of: s.Window.Length(s.Window.End).Seconds(), Unit: "s",
		Text: fmt.Sprintf("%s stopped for %.0f s", units.Plural(len(stuck), "connection"), stalled)}
	return f
}

// headers of a TCP segment without options: IPv4 and TCP. What is too big by this
// is too big with options and in IPv6.
const headers = 40

// standsStill reports whether a sender has had nothing acknowledged for the end of the
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
func icmpDropped(s *scene.Scene, r *recording.Recording, hop uint64, stuck []*scene.Socket) (out []suspect.Evidence) {
	spaces := []uint64{hop}
	for _, k := range stuck {
		if id := k.First().Netns; id != spaces[len(spaces)-1] {
			spaces = append(spaces, id)
		}
	}
	for _, netns := range spaces {
		var all measure.Steps
		for _, d := range r.Drops {
			if measure.Namespace(r, d.Netns) == netns && (d.Proto == "icmp" || d.Proto == "icmpv6") && measure.BecauseOf(d, "NETFILTER_DROP", "nf_hook_slow") {
				all = append(all, measure.Step{Interval: measure.OneSecond(d.T), N: float64(d.N)})
			}
		}
		n := all.Sum()
		if n == 0 {
			continue
		}
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: n, Unit: "packets", Source: source.Drops("NETFILTER_DROP").And(source.Of("nft list ruleset")), Origin: "NETFILTER_DROP",
			Text: fmt.Sprintf("a firewall dropped %s ICMP packets in %s", units.Count(n), spaceName(s, netns))}
		if rule, hits, ok := ruleThatDropped(r, netns, "", all); ok {
			e.Text += fmt.Sprintf(": rule %s (%s packets)", ruleName(rule), units.Count(hits))
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

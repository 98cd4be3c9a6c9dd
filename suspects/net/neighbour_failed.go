package net

import (
	"fmt"
	"slices"
	"strings"
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

var neighbourFailed = &suspect.Suspect{
	Name:  "neighbour-failed",
	Title: "the gateway or host on the link does not answer ARP or neighbour discovery",
	About: "Packets for an address wait until its link-layer address is known; they are dropped when no answer comes within some seconds. A gateway that is gone, a wrong gateway or netmask, a VLAN that is not passed on, an overflowing neighbour table. Scans of empty addresses leave many failed neighbours and affect no client.",
	Needs: []suspect.Need{
		{Measure: "drops.kfree_skb", Must: true, Why: "packets dropped while their neighbour was asked for"},
		{Measure: "routes.neighbours", Must: false, Why: "the neighbour's state; overflows of the table"},
		{Measure: "routes.table", Must: false, Why: "which gateway an address is reached by"},
		{Measure: "sockets.diag", Must: false, Why: "who sent them"},
	},
	For: []string{
		"decisive: packets of a socket here were dropped waiting for a neighbour, and that neighbour was FAILED or INCOMPLETE and from then on never REACHABLE",
		"strong: packets dropped while waiting for a neighbour",
		"strong: the next hop was FAILED or INCOMPLETE in two samples and more at which data of a connection by way of it waited 0.5 s and more for an ACK",
		"strong: meanwhile its retransmission timer expired and nothing was sent again: what was sent is still in this host",
		"decisive: the neighbour table overflowed, and packets were dropped for want of an entry",
	},
	Against: []string{
		"strong: a few packets to each of many addresses: a scan, or a host that is switched off",
		"strong: the neighbour answered in the same window",
	},
	LeadsTo: []suspect.Lead{
		{To: "uplink-blackhole", Lag: 5 * time.Second},
		{To: "packet-loss", Lag: 2 * time.Second}, {To: "half-open-peer", Lag: 30 * time.Second}, {To: scene.DatagramsLost, Lag: 2 * time.Second}, {To: scene.ConnectLatency, Lag: 3 * time.Second}, {To: scene.ConnectionErrors, Lag: 10 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second}},
	Remedy:   suspect.Remedy{Permanently: "The gateway's address in the routes, its link, or the host itself. For a table that overflows: gc_thresh3 in /etc/sysctl.d."},
	Verified: "the neighbour becomes REACHABLE",
	Next:     "ip neigh show nud failed; ip neigh show nud incomplete; arping -c 3 -I DEVICE ADDRESS",
	Weigh:    weighNeighbour,
}

// unresolved reports what was dropped because a neighbour was not known: its queue ran
// over, or the asking was given up (net/core/neighbour.c). Kernels before 5.18 give
// no reason for it.
func unresolved(d recording.Drop) bool {
	switch d.Reason {
	case "NEIGH_FAILED", "NEIGH_QUEUEFULL", "NEIGH_DEAD", "NEIGH_CREATEFAIL":
		return true
	case "", "NOT_SPECIFIED":
		for _, place := range []string{"neigh_invalidate", "__neigh_event_send", "arp_error_report", "ndisc_error_report"} {
			if strings.HasPrefix(d.Place, place) {
				return true
			}
		}
	}
	return false
}

func weighNeighbour(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	out := tableFull(s, r)
	// By the next hop: all that leaves by a dead gateway has one cause.
	by, order := measure.DropsBy(r.Drops, func(d recording.Drop) (measure.DropKey, bool) {
		netns := measure.Namespace(r, d.Netns)
		hop := recording.Host(d.Dst)
		if route, ok := measure.RouteTo(r, netns, hop); ok && route.Via != "" {
			hop = route.Via
		}
		return measure.DropKey{Netns: netns, Device: d.Device, Dst: hop}, !d.Benign && d.Dst != "" && unresolved(d)
	})
	others, addresses, netns := 0.0, 0, uint64(0)
	for _, k := range order {
		party, wanted := partyTo(s, r, by[k])
		if !enough(wanted, party) {
			others, addresses, netns = others+measure.DropSteps(by[k]).Sum(), addresses+1, k.Netns
			continue
		}
		out = append(out, neighbourFinding(s, r, k, by[k], party))
	}
	out = append(out, unheard(s, r, out)...)
	if len(out) == 0 && others > 0 {
		out = append(out, suspect.Finding{Subject: recording.Subject{Kind: recording.KindNetns, Netns: netns}, Evidence: []suspect.Evidence{{
			Side: suspect.Against, Grade: suspect.Strong, Value: others, Unit: "packets", Source: source.Drops("NEIGH_FAILED"),
			Text: fmt.Sprintf("%s packets to %s on the links were dropped for want of a neighbour, fewer than %d of any socket here to each: a scan, or hosts that are off", units.Count(others), units.Plural(addresses, "address"), wantedPackets)}}})
	}
	return out
}

func neighbourFinding(s *scene.Scene, r *recording.Recording, k measure.DropKey, rows []recording.Drop, party *scene.Socket) suspect.Finding {
	all := measure.DropSteps(rows)
	n := all.Sum()
	f := suspect.Finding{
		Subject: recording.Subject{Kind: recording.KindPeer, Netns: k.Netns, Remote: k.Dst, Device: k.Device}, Active: waited(rows, all, s.Window),
		Related: measure.Senders(s, r, rows),
		Text:    fmt.Sprintf("no host on %s answers for %s: %s packets were dropped", k.Device, k.Dst, units.Count(n)),
		Remedy:  suspect.Remedy{Permanently: backOnLink(s, k.Netns, k.Dst, k.Device)},
		Next:    remedy.InNetns(s, k.Netns, "arping -c 3 -I "+k.Device+" "+k.Dst),
		Harm:    suspect.Harm{Symptom: scene.DatagramsLost, Amount: n, Unit: "packets", Text: fmt.Sprintf("%s packets by way of %s dropped", units.Count(n), k.Dst)},
	}
	dead, alive := neighbourSeen(r, k.Netns, k.Dst, k.Device)
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: n, Unit: "packets", Source: source.Drops("NEIGH_FAILED", "NEIGH_QUEUEFULL").And(source.Of("ip neigh")), Origin: "neighbour",
		Text: fmt.Sprintf("%s packets of %s and others were dropped waiting for %s on %s", units.Count(n), party.Subject.Name, k.Dst, k.Device), Doubt: measure.LossOf(r, "drops.kfree_skb", n)}
	if len(f.Related) <= 1 {
		e.Text = fmt.Sprintf("%s packets of %s were dropped waiting for %s on %s", units.Count(n), party.Subject.Name, k.Dst, k.Device)
	}
	switch {
	case dead && !alive:
		e.Grade = suspect.Decisive
		e.Text += "; in the neighbour table it was FAILED or INCOMPLETE, and from then on never REACHABLE"
	case alive && slices.ContainsFunc(rows, gaveUp):
		e.Grade = suspect.Decisive
		f.Text += ", before it answered again"
		e.Text += fmt.Sprintf("; the kernel asked for it for %s and gave up, before it was REACHABLE again", units.Seconds(askedFor))
	case alive:
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Source: source.Of("ip neigh"), Origin: "neighbour table",
			Text: k.Dst + " was REACHABLE afterwards: it answers, late or now and then"})
	}
	f.Evidence = append([]suspect.Evidence{e}, f.Evidence...)
	return f
}

func backOnLink(s *scene.Scene, netns uint64, hop, device string) string {
	return "Bring " + hop + " back on the link of " + device + ", or correct the gateway where routes are kept (" + remedy.InNetns(s, netns, "ip route") + ")."
}

// askedFor is how long the kernel asks for a neighbour, three times a second apart, until it gives up
// and drops what has waited since (arp(7): mcast_solicit, retrans_time_ms).
const askedFor = 3 * time.Second

// gaveUp: the neighbour did not answer, and the kernel dropped the packets that had waited for it.
func gaveUp(d recording.Drop) bool {
	return d.Reason == "NEIGH_FAILED" || strings.HasPrefix(d.Place, "neigh_invalidate")
}

// waited is when packets were dropped, or waited to be.
func waited(rows []recording.Drop, all measure.Steps, window recording.Interval) []recording.Interval {
	active := all.Active()
	for _, d := range rows {
		if gaveUp(d) {
			active = append(active, recording.Interval{Start: max(window.Start, d.T.Add(-askedFor)), End: d.T})
		}
	}
	return intervals.Merge(active, 0)
}

// tableFull weighs the machine's neighbour tables: they are one for all namespaces.
func tableFull(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	for _, series := range r.Select("snag_neighbour_table_fulls_total") {
		n, ok := series.Increase()
		if !ok || n <= 0 {
			continue
		}
		knob := "net.ipv4.neigh.default.gc_thresh3"
		if series.Labels["table"] == "ndisc_cache" {
			knob = "net.ipv6.neigh.default.gc_thresh3"
		}
		limit, _ := r.FactOf(knob, 0)
		all := measure.StepsOf(series)
		var rows []recording.Drop
		for _, d := range r.Drops {
			if d.Reason == "NEIGH_CREATEFAIL" {
				rows = append(rows, d)
			}
		}
		dropped := measure.DropSteps(rows).Sum()
		f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindFile, Path: knob}, Active: all.Active(), Related: measure.Senders(s, r, rows),
			Text: fmt.Sprintf("the neighbour table overflowed %s times (gc_thresh3 %s)", units.Count(n), limit),
			Next: "ip neigh | wc -l; nstat; dmesg | grep 'neighbor table overflow'"}
		f.Settings = neighbourSettings(knob, limit, n)
		f.Remedy = suspect.Remedy{Now: remedy.Now(s, r, f.Settings), Permanently: remedy.Kept(s, r, f.Settings)}
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: n, Unit: "times", Source: source.Of("/proc/net/stat/"+series.Labels["table"]+" table_fulls", source.Ref{Series: series.Name, Labels: series.Labels}), Origin: "table_fulls",
			Text: fmt.Sprintf("the table had no room for a new neighbour %s times", units.Count(n))}
		if dropped > 0 {
			e.Grade, e.Text = suspect.Decisive, e.Text+fmt.Sprintf(", and %s packets were dropped for want of an entry", units.Count(dropped))
			f.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: dropped, Unit: "packets", Text: units.Count(dropped) + " packets dropped for want of a neighbour's entry"}
		}
		f.Evidence = []suspect.Evidence{e}
		out = append(out, f)
	}
	return out
}

// doubled is twice a setting, or what it is by default where it was not read.
func doubled(text string, usual int) int {
	var v int
	if _, err := fmt.Sscan(text, &v); err != nil || v <= 0 {
		v = usual
	}
	return 2 * v
}

package net

import (
	"fmt"
	"strings"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var qdiscDrop = &suspect.Suspect{
	Name:  "qdisc-drop",
	Title: "queueing discipline drops what is sent",
	About: "More is sent than the queueing discipline of the interface lets through or holds, and it drops the rest. sendto returns no error. SndbufErrors grows with it and has nothing to do with wmem. An AQM (codel, red, cake) drops a few packets of a TCP stream on purpose, as its signal to slow down.",
	Needs: []suspect.Need{
		{Measure: "host.qdisc", Must: true, Why: "drops of every qdisc, leaves included"},
		{Measure: "drops.kfree_skb", Must: false, Why: "the same drops, by packet: which protocol and sender"},
		{Measure: "host.links", Must: false, Why: "the carrier"},
		{Measure: "sockets.diag", Must: false, Why: "which flow the packets belong to"},
	},
	For: []string{
		"decisive: the leaf's drops are as many as the QDISC_DROP drops of its device",
		"decisive: the leaf's drops are as many as the namespace's IpOutDiscards grew",
		"strong: the leaf's drops grew",
	},
	Against: []string{
		"decisive: QDISC_DROP with the carrier down and no drops of the qdisc: there was no way out",
		"trap: overlimits (shaping, not loss); a parent that repeats its child's drops; requeues; SndbufErrors",
	},
	LeadsTo: []suspect.Lead{{To: "packet-loss", Lag: 2 * time.Second}, {To: scene.DatagramsLost, Lag: 2 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.FramesSkipped, Lag: 5 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}},
	Remedy: suspect.Remedy{
		Now:         "tc qdisc change dev DEVICE root pfifo limit PACKETS",
		Permanently: "The limit or rate in the .network file or the unit that sets the queue. A queue that overflows all the time needs a faster link, not a longer queue.",
		Program:     "Pace the sender (SO_MAX_PACING_RATE).",
	},
	Verified: "dropped of tc -s qdisc does not grow",
	Next:     "tc -s qdisc show",
	Weigh:    weighQdiscDrop,
}

// isQdiscDrop: QDISC_DROP, and what newer kernels tell apart (QDISC_OVERLIMIT,
// QDISC_CONGESTED: 6.14 and later). fq's own limits are another suspect's.
func isQdiscDrop(d recording.Drop) bool {
	if strings.HasPrefix(d.Reason, "QDISC_") {
		return true
	}
	// Before 5.17, the one place in the way out that frees for a qdisc, a batch at a time.
	return d.Reason == "" && measure.BecauseOf(d, "", "__dev_queue_xmit", "__dev_xmit_skb", "kfree_skb_list")
}

func weighQdiscDrop(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	freed, order := measure.DropsBy(r.Drops, func(d recording.Drop) (measure.DropKey, bool) {
		return measure.DropKey{Netns: measure.Namespace(r, d.Netns), Device: d.Device}, isQdiscDrop(d) && !d.Benign
	})
	leaves := leafQdiscs(r)
	onDevice := map[measure.DropKey]measure.Steps{}
	for _, l := range leaves {
		onDevice[l.device] = append(onDevice[l.device], l.drops...)
	}
	var out []suspect.Finding
	for _, l := range leaves {
		rows := freed[l.device]
		if n, ok := l.flowLimited(r); ok && n > 0 && measure.Agree(n, l.drops.Sum()) {
			out = append(out, suspect.Finding{Subject: l.subject(), Evidence: []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: n, Unit: "packets", Source: source.Qdisc, Origin: "qdisc",
				Text: fmt.Sprintf("all of the %s packets that it dropped met fq's flow limit (fq-flow-limit): its queue was not full", units.Count(n))}}})
		} else if l.drops.Sum() > 0 {
			out = append(out, qdiscFinding(s, r, l, rows, onDevice[l.device]))
		} else if over, ok := l.grew(r, "node_qdisc_overlimits_total"); ok && over > 0 && len(rows) == 0 {
			out = append(out, suspect.Finding{Subject: l.subject(), Evidence: []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: over, Unit: "packets", Source: source.Qdisc,
				Text: fmt.Sprintf("%s packets waited (overlimits), none were dropped: shaping, not loss", units.Count(over))}}})
		}
	}
	for _, k := range order {
		if onDevice[k].Sum() == 0 {
			out = append(out, droppedWithoutQdisc(r, k, freed[k]))
		}
	}
	return out
}

// droppedWithoutQdisc: the packets met the qdisc of an interface that can't send
// (net/sched/sch_generic.c, noop_qdisc), which counts nothing.
func droppedWithoutQdisc(r *recording.Recording, k measure.DropKey, rows []recording.Drop) suspect.Finding {
	all := measure.DropSteps(rows)
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: all.Sum(), Unit: "packets", Source: source.Drops("QDISC_DROP"),
		Text: fmt.Sprintf("%s packets were dropped for QDISC_DROP; no qdisc of %s counts them", units.Count(all.Sum()), k.Device)}
	if carrierLost(r, k) {
		e = suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: all.Sum(), Unit: "packets", Source: source.Of("node_network_carrier", source.Ref{Series: "node_network_carrier"}).And(source.Drops("QDISC_DROP")),
			Text: fmt.Sprintf("%s has no carrier: %s packets had no way out, and its queue did not drop them", k.Device, units.Count(all.Sum()))}
	}
	return suspect.Finding{Subject: recording.Subject{Kind: recording.KindInterface, Netns: k.Netns, Device: k.Device}, Evidence: []suspect.Evidence{e}, Active: all.Active(),
		Text: fmt.Sprintf("%s packets were dropped on the way out", units.Count(all.Sum()))}
}

// carrierLost reports whether the interface was seen without a carrier.
func carrierLost(r *recording.Recording, k measure.DropKey) bool {
	for _, s := range r.Select("node_network_carrier", "device", k.Device) {
		if measure.NetnsOf(r, s) != k.Netns {
			continue
		}
		for _, p := range s.Points {
			if p.V == 0 {
				return true
			}
		}
	}
	for _, l := range r.Links {
		if l.Name == k.Device && measure.Namespace(r, l.Netns) == k.Netns && (!l.Up || l.Carrier != nil && !*l.Carrier) {
			return true
		}
	}
	return false
}

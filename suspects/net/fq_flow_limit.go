package net

import (
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var fqFlowLimit = &suspect.Suspect{
	Name:  "fq-flow-limit",
	Title: "the fq qdisc drops what one flow queues beyond its limit",
	About: "fq holds at most flow_limit packets of one flow (100 by default) while it paces them, and drops what the sender adds, with nearly all of the qdisc empty. A sender of UDP that bursts meets it; TCP keeps its queue short on its own. " +
		"Below mq each queue has its own fq, which exporters that read roots only do not show.",
	Needs: []suspect.Need{
		{Measure: "host.qdisc", Must: true, Why: "flows_plimit, drops and flow_limit of every fq, those below mq too"},
		{Measure: "drops.kfree_skb", Must: false, Why: "which flow the packets belong to"},
		{Measure: "sockets.diag", Must: false, Why: "the sender"},
	},
	For: []string{
		"decisive: fq's flow-limit drops are as many as all its drops (690 of 690; 0 with flow_limit 1000 or over 5 flows)",
		"strong: its flow-limit drops grew",
	},
	Against: []string{
		"decisive: fq dropped, and none of it for the flow limit: its whole queue was full (qdisc-drop)",
		"trap: requeues are not loss; the same burst over 5 flows stays under each one's limit",
	},
	LeadsTo: []suspect.Lead{{To: "packet-loss", Lag: 2 * time.Second}, {To: scene.DatagramsLost, Lag: 2 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.FramesSkipped, Lag: 5 * time.Second}},
	Remedy: suspect.Remedy{
		Now:         "tc qdisc change dev DEVICE root fq flow_limit PACKETS",
		Permanently: "FlowLimit= in [FairQueueing] of the .network file, or the unit that sets the queue. Below mq for each fq.",
		Program:     "Pace bursts (SO_MAX_PACING_RATE).",
	},
	Verified: "flows_plimit does not grow",
	Next:     "tc -s -d qdisc show",
	Weigh:    weighFqFlowLimit,
}

// flowLimited is how much fq's flow limit dropped on that leaf, and whether it was
// counted: other kinds have no such series.
func (l leaf) flowLimited(r *recording.Recording) (float64, bool) {
	return l.grew(r, "snag_qdisc_flow_limit_drops_total")
}

func weighFqFlowLimit(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, l := range leafQdiscs(r) {
		n, ok := l.flowLimited(r)
		dropped := l.drops.Sum()
		requeued, _ := l.grew(r, "node_qdisc_requeues_total")
		f := suspect.Finding{Subject: l.subject(), Active: l.drops.Active(), Next: remedy.InNetns(s, l.device.Netns, "tc -s -d qdisc show dev "+l.device.Device)}
		against := func(v float64, text string) {
			f.Evidence = []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: v, Unit: "packets", Source: source.Qdisc.As(f.Next), Origin: "qdisc", Text: text}}
			out = append(out, f)
		}
		switch {
		case l.kind != "fq" || !ok:
		case n == 0 && dropped > 0:
			against(dropped, fmt.Sprintf("fq %s on %s dropped %s packets, none for the flow limit", l.handle, l.device.Device, units.Count(dropped)))
		case n == 0 && requeued > 0:
			against(requeued, fmt.Sprintf("fq %s on %s took %s packets back (requeues) and dropped none", l.handle, l.device.Device, units.Count(requeued)))
		case n > 0:
			out = append(out, fqFinding(s, r, l, n, f))
		}
	}
	return out
}

func fqFinding(s *scene.Scene, r *recording.Recording, l leaf, n float64, f suspect.Finding) suspect.Finding {
	dropped := l.drops.Sum()
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: n, Unit: "packets", Source: source.Qdisc.As(f.Next), Origin: "qdisc",
		Text: fmt.Sprintf("flows_plimit of fq %s on %s grew by %s, its drops by %s", l.handle, l.device.Device, units.Count(n), units.Count(dropped))}
	if measure.Agree(n, dropped) {
		e.Grade = suspect.Decisive
	}
	f.Evidence = append(f.Evidence, e)
	var rows []recording.Drop
	for _, d := range r.Drops {
		// FQ_FLOW_LIMIT since 6.14 (net/sched/sch_fq.c), before it QDISC_DROP.
		if (d.Reason == "FQ_FLOW_LIMIT" || isQdiscDrop(d)) && d.Device == l.device.Device && measure.Namespace(r, d.Netns) == l.device.Netns {
			rows = append(rows, d)
		}
	}
	f.Related = measure.Senders(s, r, rows)
	sent, _ := l.grew(r, "node_qdisc_packets_total")
	f.Text = fmt.Sprintf("dropped %s packets of flows that had more than flow_limit waiting", units.OfAll(n, sent+dropped))
	if len(f.Related) > 0 {
		f.Text += ", most of them of " + f.Related[0].Name
	}
	f.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: n, Of: sent + dropped, Unit: "packets", Text: fmt.Sprintf("%s packets dropped by fq on %s", units.OfAll(n, sent+dropped), l.device.Device)}
	f.Settings = fqSettings(s, l, l.steps(r, "snag_qdisc_flow_limit_drops_total"))
	f.Remedy = suspect.Remedy{Now: remedy.Now(s, r, f.Settings), Permanently: fmt.Sprintf("FlowLimit= in [FairQueueing] of the .network file of %s, or the unit that sets its queue.", l.device.Device),
		Program: "Pace the sender (SO_MAX_PACING_RATE)."}
	for _, sub := range f.Related[:min(len(f.Related), 2)] {
		f.Calls = append(f.Calls, suspect.Call{Who: suspect.WhoseCall(sub), Do: "setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, its mean bytes per second), or sleep between the datagrams of a burst", Why: "it hands fq more at once than a flow may have waiting"})
	}
	return f
}

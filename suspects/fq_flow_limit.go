package suspects

import (
	"fmt"
	"time"

	"snag/recording"
	"snag/scene"
)

var fqFlowLimit = &Suspect{
	Name:  "fq-flow-limit",
	Title: "the fq qdisc drops what one flow queues beyond its limit",
	About: "fq holds at most flow_limit packets of one flow (100 by default) while it paces them, and drops what the sender adds, with nearly all of the qdisc empty. A sender of UDP that bursts meets it; TCP keeps its queue short by itself. " +
		"Below mq each queue has an fq of its own, which exporters that read roots only do not show.",
	Needs: []Need{
		{"host.qdisc", true, "flows_plimit, drops and flow_limit of every fq, those below mq too"},
		{"drops.kfree_skb", false, "whose packets they were"},
		{"sockets.diag", false, "the sender"},
	},
	For: []string{
		"decisive: fq's flow-limit drops are as many as all its drops (690 of 690; 0 with flow_limit 1000 or over 5 flows)",
		"strong: its flow-limit drops grew",
	},
	Against: []string{
		"decisive: fq dropped, and none of it for the flow limit: its whole queue was full (qdisc-drop)",
		"trap: requeues are not loss; the same burst over 5 flows stays under each one's limit",
	},
	LeadsTo: []Lead{{"packet-loss", 2 * time.Second}, {scene.DatagramsLost, 2 * time.Second}, {scene.StreamFreeze, 5 * time.Second}, {scene.FramesSkipped, 5 * time.Second}},
	Remedy: Remedy{
		Now:         "tc qdisc change dev DEVICE root fq flow_limit PACKETS",
		Permanently: "FlowLimit= in [FairQueueing] of the .network file, or the unit that sets the queue. Below mq for each fq.",
		Program:     "Pace bursts (SO_MAX_PACING_RATE).",
	},
	Verified: "flows_plimit stands still",
	Next:     "tc -s -d qdisc show",
	Weigh:    weighFqFlowLimit,
}

// flowLimited is how much fq's flow limit dropped on that leaf, and whether it was
// counted: other kinds have no such series.
func (l leaf) flowLimited(r *recording.Recording) (float64, bool) {
	return l.grew(r, "snag_qdisc_flow_limit_drops_total")
}

func weighFqFlowLimit(s *scene.Scene, r *recording.Recording) []Finding {
	var out []Finding
	for _, l := range leafQdiscs(r) {
		n, ok := l.flowLimited(r)
		dropped := l.drops.sum()
		requeued, _ := l.grew(r, "node_qdisc_requeues_total")
		f := Finding{Subject: l.subject(), Active: l.drops.active(), Next: inNetns(s, l.device.netns, "tc -s -d qdisc show dev "+l.device.device)}
		against := func(v float64, text string) {
			f.Evidence = []Evidence{{Side: Against, Grade: Decisive, Value: v, Unit: "packets", Source: f.Next, Origin: "qdisc", Text: text}}
			out = append(out, f)
		}
		switch {
		case l.kind != "fq" || !ok:
		case n == 0 && dropped > 0:
			against(dropped, fmt.Sprintf("fq %s on %s dropped %s packets, none for the flow limit", l.handle, l.device.device, count(dropped)))
		case n == 0 && requeued > 0:
			against(requeued, fmt.Sprintf("fq %s on %s took %s packets back (requeues) and dropped none", l.handle, l.device.device, count(requeued)))
		case n > 0:
			out = append(out, fqFinding(s, r, l, n, f))
		}
	}
	return out
}

func fqFinding(s *scene.Scene, r *recording.Recording, l leaf, n float64, f Finding) Finding {
	dropped := l.drops.sum()
	e := Evidence{Side: For, Grade: Strong, Value: n, Unit: "packets", Source: f.Next, Origin: "qdisc",
		Text: fmt.Sprintf("flows_plimit of fq %s on %s grew by %s, its drops by %s", l.handle, l.device.device, count(n), count(dropped))}
	if agree(n, dropped) {
		e.Grade = Decisive
	}
	f.Evidence = append(f.Evidence, e)
	var rows []recording.Drop
	for _, d := range r.Drops {
		// FQ_FLOW_LIMIT since 6.14 (net/sched/sch_fq.c), before it QDISC_DROP.
		if (d.Reason == "FQ_FLOW_LIMIT" || isQdiscDrop(d)) && d.Device == l.device.device && namespace(r, d.Netns) == l.device.netns {
			rows = append(rows, d)
		}
	}
	f.Related = senders(s, r, rows)
	sent, _ := l.grew(r, "node_qdisc_packets_total")
	f.Text = fmt.Sprintf("dropped %s packets of flows that had more than flow_limit waiting", ofAll(n, sent+dropped))
	if len(f.Related) > 0 {
		f.Text += ", most of them of " + f.Related[0].Name
	}
	f.Harm = Harm{Symptom: scene.DatagramsLost, Amount: n, Of: sent + dropped, Unit: "packets", Text: fmt.Sprintf("%s packets dropped by fq on %s", ofAll(n, sent+dropped), l.device.device)}
	f.Settings = fqSettings(s, l, l.steps(r, "snag_qdisc_flow_limit_drops_total"))
	f.Remedy = Remedy{Now: now(s, r, f.Settings), Permanently: fmt.Sprintf("FlowLimit= in [FairQueueing] of the .network file of %s, or the unit that sets its queue.", l.device.device),
		Program: "Pace the sender (SO_MAX_PACING_RATE)."}
	for _, sub := range f.Related[:min(len(f.Related), 2)] {
		f.Calls = append(f.Calls, Call{whoseCall(sub), "setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, its mean bytes a second), or sleep between the datagrams of a burst", "it hands fq more at once than a flow may have waiting"})
	}
	return f
}

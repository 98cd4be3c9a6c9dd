package suspects

import (
	"fmt"
	"strings"

	"snag/recording"
	"snag/scene"
)

// leaf is a qdisc that has no other below it, with what it dropped.
type leaf struct {
	device       dropKey // namespace and device
	kind, handle string
	parent       string
	drops        steps
	seen         recording.Interval // between the counter's first and last sample
}

func (l leaf) subject() recording.Subject {
	return recording.Subject{Kind: recording.KindQdisc, Netns: l.device.netns, Device: l.device.device, Handle: l.handle, Path: l.kind}
}

func (l leaf) grew(r *recording.Recording, name string) (float64, bool) {
	return grew(r, l.device.netns, name, "device", l.device.device, "handle", l.handle, "parent", l.parent)
}

// leafQdiscs are the qdiscs whose drops are their own: a parent repeats its
// child's (net/sched/sch_api.c, qdisc_tree_reduce_backlog).
func leafQdiscs(r *recording.Recording) []leaf {
	var all []leaf
	for _, s := range r.Select("node_qdisc_drops_total") {
		if len(s.Points) < 2 {
			continue
		}
		all = append(all, leaf{
			seen:   recording.Interval{Start: s.Points[0].T, End: s.Points[len(s.Points)-1].T},
			device: dropKey{netns: netnsOf(r, s), device: s.Labels["device"]},
			kind:   s.Labels["kind"], handle: s.Labels["handle"], parent: s.Labels["parent"], drops: stepsOf(s),
		})
	}
	var out []leaf
	for _, l := range all {
		if l.parent == "ingress" || strings.HasPrefix(l.parent, "ffff:") || l.kind == "ingress" || l.kind == "clsact" || hasChild(l, all) {
			continue
		}
		out = append(out, l)
	}
	return out
}

// hasChild: a child's parent is a class of this one's handle, "8001:1" of
// "8001:"; the kernel's own mq has handle "0:" and children of ":1", ":2".
func hasChild(l leaf, all []leaf) bool {
	major, _, _ := strings.Cut(l.handle, ":")
	for _, c := range all {
		if c.device != l.device || c.parent == "" || c.parent == "root" {
			continue
		}
		parent, _, ok := strings.Cut(c.parent, ":")
		if !ok || strings.TrimLeft(parent, "0") != strings.TrimLeft(major, "0") {
			continue
		}
		if strings.TrimLeft(major, "0") != "" || l.parent == "root" {
			return true
		}
	}
	return false
}

func qdiscFinding(s *scene.Scene, r *recording.Recording, l leaf, rows []recording.Drop, device steps) Finding {
	sub := l.subject()
	dropped := l.drops.sum()
	sent, _ := l.grew(r, "node_qdisc_packets_total")
	f := Finding{
		Subject: sub, Active: l.drops.active(), Related: senders(s, r, rows),
		Evidence: qdiscEvidence(r, l, rows, device),
		Next:     inNetns(s, l.device.netns, "tc -s qdisc show dev "+l.device.device),
	}
	all := sent + dropped
	f.Settings, f.Calls = qdiscSettings(s, r, l, f.Related)
	f.Remedy = Remedy{Now: now(s, r, f.Settings), Permanently: kept(s, r, f.Settings), Program: "Pace the sender (SO_MAX_PACING_RATE)."}
	if len(f.Settings) == 0 {
		f.Remedy.Permanently = fmt.Sprintf("A faster link, or a higher rate of %s %s on %s in the .network file or the unit that sets it. A longer queue would only make packets wait.", l.kind, l.handle, l.device.device)
	}
	f.Text = fmt.Sprintf("dropped %s packets on their way out", ofAll(dropped, all))
	if len(f.Related) > 0 {
		f.Text += ", most of them of " + f.Related[0].Name
	}
	lost := harmful(l, rows, dropped, all)
	if lost < dropped {
		f.Evidence = append(f.Evidence, Evidence{Side: Against, Grade: Weak, Value: 100 * dropped / all, Unit: "percent", Source: f.Next,
			Text: fmt.Sprintf("%s of the packets were TCP's, %.2f %% of all dropped: under 1 %% a drop is how TCP learns its rate", ofAll(dropped-lost, dropped), 100*dropped/all)})
	}
	if lost > 0 {
		f.Harm = Harm{Symptom: scene.DatagramsLost, Amount: lost, Of: all, Unit: "packets", Text: fmt.Sprintf("%s packets dropped by %s on %s", ofAll(lost, all), l.kind, l.device.device)}
	}
	return f
}

// tcpSignal: below this share of packets, drops at a queue are how TCP learns
// its rate (RFC 8289, RFC 5681), and not a harm.
const tcpSignal = 0.01

// harmful is how many of the dropped packets somebody misses: all of UDP's, and
// TCP's when they are more than a signal. Where nothing told the protocol, an
// AQM is trusted to have signalled.
func harmful(l leaf, rows []recording.Drop, dropped, all float64) float64 {
	if dropped >= tcpSignal*all {
		return dropped
	}
	if len(rows) == 0 {
		switch l.kind {
		case "fq_codel", "codel", "cake", "red", "pie", "fq_pie", "sfq":
			return 0
		}
		return dropped
	}
	lost := 0.0
	for _, d := range rows {
		if d.Proto != "tcp" {
			lost += float64(d.N)
		}
	}
	return min(lost, dropped)
}

func qdiscEvidence(r *recording.Recording, l leaf, rows []recording.Drop, device steps) []Evidence {
	dropped := l.drops.sum()
	source := "tc -s qdisc show dev " + l.device.device
	e := Evidence{Side: For, Grade: Strong, Value: dropped, Unit: "packets", Source: source, Origin: "qdisc",
		Text: fmt.Sprintf("%s %s on %s dropped %s packets", l.kind, l.handle, l.device.device, count(dropped))}
	freed, same := dropSteps(rows).agreeIn(device.sum(), l.seen)
	discards, measured := grew(r, l.device.netns, "node_netstat_Ip_OutDiscards")
	switch _, traced := r.Measured("drops.kfree_skb"); {
	case traced && same && freed > 0:
		e.Grade = Decisive
		e.Source += "; tracepoint skb:kfree_skb QDISC_DROP"
		e.Text += fmt.Sprintf("; %s were freed for QDISC_DROP on that device", count(freed))
	case measured && discards > 0 && agree(discards, device.sum()):
		e.Grade = Decisive
		e.Source += "; /proc/net/snmp Ip OutDiscards"
		e.Text += fmt.Sprintf("; its namespace's IpOutDiscards grew by %s", count(discards))
	case traced && freed > 0:
		e.Text += fmt.Sprintf("; but %s were freed for QDISC_DROP on that device", count(freed))
		e.Doubt = lossOf(r, "drops.kfree_skb", freed)
	}
	out := []Evidence{e}
	if n, _, ok := udpCount(r, l.device.netns, "SndbufErrors"); ok && n.sum() > 0 {
		out = append(out, Evidence{Side: For, Grade: Weak, Value: n.sum(), Unit: "datagrams", Source: "/proc/net/snmp Udp SndbufErrors", Origin: "qdisc",
			Text: fmt.Sprintf("UdpSndbufErrors grew by %s: it counts the qdisc's drops too, wmem is not short", count(n.sum()))})
	}
	if e.Grade != Decisive {
		again := steps{}
		for _, t := range r.Retransmits {
			if namespace(r, t.Netns) == l.device.netns && t.State != "SYN_SENT" {
				again = append(again, step{oneSecond(t.T), float64(t.N)})
			}
		}
		if n := again.sum(); n >= 0.5*dropped && overlap(again.active(), l.drops.active(), r.Manifest.End) > 0 {
			out = append(out, Evidence{Side: For, Grade: Strong, Value: n, Unit: "segments", Source: "tracepoint tcp:tcp_retransmit_skb", Origin: "retransmit",
				Text: fmt.Sprintf("%s segments of its namespace were sent again at the same time", count(n))})
		}
	}
	return out
}

package net

import (
	"fmt"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// leaf is a qdisc that has no other below it, with what it dropped.
type leaf struct {
	device       measure.DropKey // namespace and device
	kind, handle string
	parent       string
	drops        measure.Steps
	seen         recording.Interval // between the counter's first and last sample
}

func (l leaf) subject() recording.Subject {
	return recording.Subject{Kind: recording.KindQdisc, Netns: l.device.Netns, Device: l.device.Device, Handle: l.handle, Path: l.kind}
}

func (l leaf) grew(r *recording.Recording, name string) (float64, bool) {
	return measure.Grew(r, l.device.Netns, name, "device", l.device.Device, "handle", l.handle, "parent", l.parent)
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
			seen:   s.Span(),
			device: measure.DropKey{Netns: measure.NetnsOf(r, s), Device: s.Labels["device"]},
			kind:   s.Labels["kind"], handle: s.Labels["handle"], parent: s.Labels["parent"], drops: measure.StepsOf(s),
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

func qdiscFinding(s *scene.Scene, r *recording.Recording, l leaf, rows []recording.Drop, device measure.Steps) suspect.Finding {
	sub := l.subject()
	dropped := l.drops.Sum()
	sent, _ := l.grew(r, "node_qdisc_packets_total")
	f := suspect.Finding{
		Subject: sub, Active: l.drops.Active(), Related: measure.Senders(s, r, rows),
		Evidence: qdiscEvidence(r, l, rows, device),
		Next:     remedy.InNetns(s, l.device.Netns, "tc -s qdisc show dev "+l.device.Device),
	}
	all := sent + dropped
	f.Settings, f.Calls = qdiscSettings(s, r, l, f.Related)
	f.Remedy = suspect.Remedy{Now: remedy.Now(s, r, f.Settings), Permanently: remedy.Kept(s, r, f.Settings), Program: "Pace the sender (SO_MAX_PACING_RATE)."}
	if len(f.Settings) == 0 {
		f.Remedy.Permanently = fmt.Sprintf("A faster link, or a higher rate of %s %s on %s in the .network file or the unit that sets it. A longer queue would only make packets wait.", l.kind, l.handle, l.device.Device)
	}
	f.Text = fmt.Sprintf("dropped %s packets on their way out", units.OfAll(dropped, all))
	if len(f.Related) > 0 {
		f.Text += ", most of them of " + f.Related[0].Name
	}
	lost := harmful(l, rows, dropped, all)
	if lost < dropped {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Weak, Value: 100 * dropped / all, Unit: "percent", Source: source.Qdisc.As(f.Next),
			Text: fmt.Sprintf("%s of the packets were TCP's, %.2f %% of all dropped: under 1 %% a drop is how TCP learns its rate", units.OfAll(dropped-lost, dropped), 100*dropped/all)})
	}
	if lost > 0 {
		f.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: lost, Of: all, Unit: "packets", Text: fmt.Sprintf("%s packets dropped by %s on %s", units.OfAll(lost, all), l.kind, l.device.Device)}
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

func qdiscEvidence(r *recording.Recording, l leaf, rows []recording.Drop, device measure.Steps) []suspect.Evidence {
	dropped := l.drops.Sum()
	shown := source.Qdisc.As("tc -s qdisc show dev " + l.device.Device)
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: dropped, Unit: "packets", Source: shown, Origin: "qdisc",
		Text: fmt.Sprintf("%s %s on %s dropped %s packets", l.kind, l.handle, l.device.Device, units.Count(dropped))}
	freed, same := measure.DropSteps(rows).AgreeIn(device.Sum(), l.seen)
	discards, measured := measure.Grew(r, l.device.Netns, "node_netstat_Ip_OutDiscards")
	switch _, traced := r.Measured("drops.kfree_skb"); {
	case traced && same && freed > 0:
		e.Grade = suspect.Decisive
		e.Source = e.Source.And(source.Drops("QDISC_DROP"))
		e.Text += fmt.Sprintf("; %s were freed for QDISC_DROP on that device", units.Count(freed))
	case measured && discards > 0 && measure.Agree(discards, device.Sum()):
		e.Grade = suspect.Decisive
		e.Source = e.Source.And(source.SNMP("Ip", "OutDiscards"))
		e.Text += fmt.Sprintf("; its namespace's IpOutDiscards grew by %s", units.Count(discards))
	case traced && freed > 0:
		e.Text += fmt.Sprintf("; but %s were freed for QDISC_DROP on that device", units.Count(freed))
		e.Doubt = measure.LossOf(r, "drops.kfree_skb", freed)
	}
	out := []suspect.Evidence{e}
	if n, _, ok := udpCount(r, l.device.Netns, "SndbufErrors"); ok && n.Sum() > 0 {
		out = append(out, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: n.Sum(), Unit: "datagrams", Source: source.SNMP("Udp", "SndbufErrors"), Origin: "qdisc",
			Text: fmt.Sprintf("UdpSndbufErrors grew by %s: it counts the qdisc's drops too, wmem is not short", units.Count(n.Sum()))})
	}
	if e.Grade != suspect.Decisive {
		again := measure.Steps{}
		for _, t := range r.Retransmits {
			if measure.Namespace(r, t.Netns) == l.device.Netns && t.State != "SYN_SENT" {
				again = append(again, measure.Step{Interval: measure.OneSecond(t.T), N: float64(t.N)})
			}
		}
		if n := again.Sum(); n >= 0.5*dropped && intervals.Overlap(again.Active(), l.drops.Active(), r.Manifest.End) > 0 {
			out = append(out, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: n, Unit: "segments", Source: source.Retransmit, Origin: "retransmit",
				Text: fmt.Sprintf("%s segments of its namespace were sent again at the same time", units.Count(n))})
		}
	}
	return out
}

package net

import (
	"fmt"
	"strings"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var reversePathFilter = &suspect.Suspect{
	Name:  "reverse-path-filter",
	Title: "packets dropped because the answer would leave by another interface (rp_filter)",
	About: "With rp_filter=1 the kernel drops what comes in on one interface from an address that it would answer on another: hosts with two networks, asymmetric routing, a VPN beside the default route. The sender gets no error. Dropping strangers' packets with a false sender is what the filter is for.",
	Needs: []suspect.Need{
		{Measure: "host.netstat", Must: true, Why: "IPReversePathFilter of each namespace"},
		{Measure: "drops.kfree_skb", Must: false, Why: "the packets' source and the interface they came in on"},
		{Measure: "routes.table", Must: false, Why: "rp_filter of each interface, and the route back"},
		{Measure: "sockets.diag", Must: false, Why: "whether a socket here sent them or wants them"},
	},
	For: []string{
		"decisive: as many packets were dropped in the check of the source as IPReversePathFilter counted, and a socket here sent them or wants them",
		"strong: the route back to their sender leaves by another interface",
	},
	Against: []string{
		"strong: packets of strangers that no socket here wants: the filter's work",
		"trap: with rp_filter=2 a route back by any interface is enough; the greater of conf.all and the interface's own counts",
	},
	LeadsTo: []suspect.Lead{{To: "packet-loss", Lag: 2 * time.Second}, {To: "half-open-peer", Lag: 30 * time.Second}, {To: scene.DatagramsLost, Lag: 2 * time.Second}, {To: scene.ConnectLatency, Lag: 3 * time.Second}, {To: scene.ConnectionErrors, Lag: 10 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second}},
	Remedy: suspect.Remedy{
		Now:         "sysctl -w net.ipv4.conf.DEVICE.rp_filter=2",
		Permanently: "A route by the interface that the packets come in on, or rp_filter = 2 there in /etc/sysctl.d.",
	},
	Verified: "IPReversePathFilter does not grow",
	Next:     "nstat -az TcpExtIPReversePathFilter; sysctl -a | grep '\\.rp_filter'; ip route get SENDER",
	Weigh:    weighReversePath,
}

// reversePath tells the drops of the check. Kernels before 6.13 give no reason for
// it; then the function that checks stands for it, in which other packets are
// dropped too (net/ipv4/ip_input.c, ip_rcv_finish_core).
func reversePath(d recording.Drop) bool {
	if d.Reason == "IP_RPFILTER" {
		return true
	}
	return (d.Reason == "" || d.Reason == "NOT_SPECIFIED") && strings.HasPrefix(d.Place, "ip_rcv_finish_core")
}

func weighReversePath(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	by, order := measure.DropsBy(r.Drops, func(d recording.Drop) (measure.DropKey, bool) {
		return measure.DropKey{Netns: measure.Namespace(r, d.Netns), Device: d.Device}, !d.Benign && reversePath(d)
	})
	var out []suspect.Finding
	seen := map[uint64]measure.Steps{}
	for _, k := range order {
		seen[k.Netns] = append(seen[k.Netns], measure.DropSteps(by[k])...)
	}
	for _, k := range order {
		if n, ok := measure.Grew(r, k.Netns, "node_netstat_TcpExt_IPReversePathFilter"); !ok || n > 0 {
			out = append(out, reversePathFinding(s, r, k, by[k], seen[k.Netns]))
		}
	}
	for _, series := range r.Select("node_netstat_TcpExt_IPReversePathFilter") { // where no drop was seen
		netns := measure.NetnsOf(r, series)
		if n, ok := series.Increase(); ok && n >= wantedPackets && seen[netns] == nil {
			out = append(out, suspect.Finding{Subject: recording.Subject{Kind: recording.KindNetns, Netns: netns}, Active: measure.StepsOf(series).Active(),
				Evidence: []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: n, Unit: "packets", Source: source.Netstat("IPReversePathFilter").As("/proc/net/netstat TcpExt IPReversePathFilter"),
					Text: fmt.Sprintf("IPReversePathFilter grew by %s; the flow they belong to was not seen", units.Count(n))}},
				Text: fmt.Sprintf("%s packets failed the check of their source", units.Count(n)),
				Next: remedy.InNetns(s, netns, "sysctl -a 2>/dev/null | grep '\\.rp_filter = 1'")})
		}
	}
	return out
}

func reversePathFinding(s *scene.Scene, r *recording.Recording, k measure.DropKey, rows []recording.Drop, inSpace measure.Steps) suspect.Finding {
	all := measure.DropSteps(rows)
	n := all.Sum()
	worst := measure.ByEnds(rows)[0]
	src := recording.Host(worst.Src)
	knob, value := rpFilter(r, k.Netns, k.Device)
	f := suspect.Finding{
		Subject: recording.Subject{Kind: recording.KindInterface, Netns: k.Netns, Device: k.Device, Path: knob}, Active: all.Active(),
		Text: fmt.Sprintf("%s packets from %s were dropped: the answer would leave by another interface", units.Count(n), src),
		Next: remedy.InNetns(s, k.Netns, "ip route get "+src) + "; " + remedy.InNetns(s, k.Netns, "sysctl "+knob),
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: n, Unit: "packets", Source: source.Netstat("IPReversePathFilter").As("/proc/net/netstat TcpExt IPReversePathFilter").And(source.Drops()), Origin: "rp_filter",
		Text: fmt.Sprintf("%s packets from %s were dropped in the check of their source on %s", units.Count(n), src, k.Device), Doubt: measure.LossOf(r, "drops.kfree_skb", n)}
	counted, same, ok := countedIn(r, k.Netns, inSpace, "node_netstat_TcpExt_IPReversePathFilter")
	if ok {
		e.Text += fmt.Sprintf(" (%s in the namespace, IPReversePathFilter: %s)", units.Count(inSpace.Sum()), units.Count(counted))
	}
	party, wanted := partyTo(s, r, rows)
	if !enough(wanted, party) {
		e.Side = suspect.Against
		e.Text += fmt.Sprintf("; a socket here sent or wants %s of them, %d are the least that count: strays with a false sender, the filter's work", units.Count(wanted), wantedPackets)
		f.Evidence = []suspect.Evidence{e}
		return f
	}
	f.Related = append(f.Related, party.Subject)
	e.Text += "; " + party.Subject.Name + " is a party to them"
	if same {
		e.Grade = suspect.Decisive
	}
	f.Evidence = append(f.Evidence, e)
	if back, known := measure.RouteTo(r, k.Netns, src); known && back.Device != k.Device && back.Device != "" {
		text := fmt.Sprintf("the route back to %s leaves by %s", src, back.Device)
		if value != "" {
			text += fmt.Sprintf(", and %s is %s (1: must be the same interface)", knob, value)
		}
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Source: source.Of("ip route; " + knob), Origin: "route", Text: text})
		f.Text = fmt.Sprintf("%s packets from %s were dropped: the answer would leave by %s", units.Count(n), src, back.Device)
	}
	f.Settings = looseFilter(r, k, f.Text)
	f.Remedy = suspect.Remedy{Now: remedy.Now(s, r, f.Settings), Permanently: remedy.Join("A route back to "+src+" by "+k.Device+".", remedy.Kept(s, r, f.Settings))}
	f.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: n, Unit: "packets", Text: fmt.Sprintf("%s packets from %s dropped", units.Count(n), src)}
	return f
}

// rpFilter is the setting that holds for an interface, the greater of all's and its
// own (Documentation/networking/ip-sysctl.rst), and its value; "" not recorded.
func rpFilter(r *recording.Recording, netns uint64, device string) (knob, value string) {
	knob = "net.ipv4.conf." + device + ".rp_filter"
	value, _ = r.FactOf(knob, netns)
	all, ok := r.FactOf("net.ipv4.conf.all.rp_filter", netns)
	if ok && all > value {
		return "net.ipv4.conf.all.rp_filter", all
	}
	return knob, value
}

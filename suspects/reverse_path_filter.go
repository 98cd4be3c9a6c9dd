package suspects

import (
	"fmt"
	"strings"
	"time"

	"snag/recording"
	"snag/scene"
)

var reversePathFilter = &Suspect{
	Name:  "reverse-path-filter",
	Title: "packets dropped because the answer would leave by another interface (rp_filter)",
	About: "With rp_filter=1 the kernel drops what comes in on one interface from an address that it would answer on another: hosts with two networks, asymmetric routing, a VPN beside the default route. The sender is never told. Dropping strangers' packets with a false sender is what the filter is for.",
	Needs: []Need{
		{"host.netstat", true, "IPReversePathFilter of each namespace"},
		{"drops.kfree_skb", false, "whose packets, and the interface they came in on"},
		{"routes.table", false, "rp_filter of each interface, and the route back"},
		{"sockets.diag", false, "whether a socket here sent them or wants them"},
	},
	For: []string{
		"decisive: as many packets were dropped in the check of the source as IPReversePathFilter counted, and a socket here sent them or wants them",
		"strong: the route back to their sender leaves by another interface",
	},
	Against: []string{
		"strong: packets of strangers that no socket here wants: the filter's work",
		"trap: with rp_filter=2 a route back by any interface is enough; the greater of conf.all and the interface's own counts",
	},
	LeadsTo: []Lead{{"packet-loss", 2 * time.Second}, {scene.DatagramsLost, 2 * time.Second}, {scene.ConnectLatency, 3 * time.Second}, {scene.ConnectionErrors, 10 * time.Second}, {scene.RequestLatency, 5 * time.Second}, {scene.StreamFreeze, 5 * time.Second}},
	Remedy: Remedy{
		Now:         "sysctl -w net.ipv4.conf.DEVICE.rp_filter=2",
		Permanently: "A route by the interface that the packets come in on, or rp_filter = 2 there in /etc/sysctl.d.",
	},
	Verified: "IPReversePathFilter stands still",
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

func weighReversePath(s *scene.Scene, r *recording.Recording) []Finding {
	by, order := dropsBy(r.Drops, func(d recording.Drop) (dropKey, bool) {
		return dropKey{netns: namespace(r, d.Netns), device: d.Device}, !d.Benign && reversePath(d)
	})
	var out []Finding
	seen := map[uint64]steps{}
	for _, k := range order {
		seen[k.netns] = append(seen[k.netns], dropSteps(by[k])...)
	}
	for _, k := range order {
		if n, ok := grew(r, k.netns, "node_netstat_TcpExt_IPReversePathFilter"); !ok || n > 0 {
			out = append(out, reversePathFinding(s, r, k, by[k], seen[k.netns]))
		}
	}
	for _, series := range r.Select("node_netstat_TcpExt_IPReversePathFilter") { // where no drop was seen
		netns := netnsOf(r, series)
		if n, ok := series.Increase(); ok && n >= wantedPackets && seen[netns] == nil {
			out = append(out, Finding{Subject: recording.Subject{Kind: recording.KindNetns, Netns: netns}, Active: stepsOf(series).active(),
				Evidence: []Evidence{{Side: For, Grade: Strong, Value: n, Unit: "packets", Source: "/proc/net/netstat TcpExt IPReversePathFilter",
					Text: fmt.Sprintf("IPReversePathFilter grew by %s; whose packets they were was not seen", count(n))}},
				Text: fmt.Sprintf("%s packets failed the check of their source", count(n)),
				Next: inNetns(s, netns, "sysctl -a 2>/dev/null | grep '\\.rp_filter = 1'")})
		}
	}
	return out
}

func reversePathFinding(s *scene.Scene, r *recording.Recording, k dropKey, rows []recording.Drop, inSpace steps) Finding {
	all := dropSteps(rows)
	n := all.sum()
	worst := byEnds(rows)[0]
	src := recording.Host(worst.Src)
	knob, value := rpFilter(r, k.netns, k.device)
	f := Finding{
		Subject: recording.Subject{Kind: recording.KindInterface, Netns: k.netns, Device: k.device, Path: knob}, Active: all.active(),
		Text: fmt.Sprintf("%s packets from %s were dropped: the answer would leave by another interface", count(n), src),
		Next: inNetns(s, k.netns, "ip route get "+src) + "; " + inNetns(s, k.netns, "sysctl "+knob),
	}
	e := Evidence{Side: For, Grade: Strong, Value: n, Unit: "packets", Source: "/proc/net/netstat TcpExt IPReversePathFilter; tracepoint skb:kfree_skb", Origin: "rp_filter",
		Text: fmt.Sprintf("%s packets from %s were dropped in the check of their source on %s", count(n), src, k.device), Doubt: lossOf(r, "drops.kfree_skb", n)}
	counted, same, ok := countedIn(r, k.netns, inSpace, "node_netstat_TcpExt_IPReversePathFilter")
	if ok {
		e.Text += fmt.Sprintf(" (%s in the namespace, IPReversePathFilter: %s)", count(inSpace.sum()), count(counted))
	}
	party, wanted := partyTo(s, r, rows)
	if party == nil || wanted < wantedPackets {
		e.Side = Against
		e.Text += fmt.Sprintf("; a socket here sent or wants %s of them, %d are the least that tell: strays with a false sender, the filter's work", count(wanted), wantedPackets)
		f.Evidence = []Evidence{e}
		return f
	}
	f.Related = append(f.Related, party.Subject)
	e.Text += "; " + party.Subject.Name + " is a party to them"
	if same {
		e.Grade = Decisive
	}
	f.Evidence = append(f.Evidence, e)
	if back, known := routeTo(r, k.netns, src); known && back.Device != k.device && back.Device != "" {
		text := fmt.Sprintf("the route back to %s leaves by %s", src, back.Device)
		if value != "" {
			text += fmt.Sprintf(", and %s is %s (1: must be the same interface)", knob, value)
		}
		f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: Strong, Source: "ip route; " + knob, Origin: "route", Text: text})
		f.Text = fmt.Sprintf("%s packets from %s were dropped: the answer would leave by %s", count(n), src, back.Device)
	}
	f.Settings = looseFilter(r, k, f.Text)
	f.Remedy = Remedy{Now: now(s, r, f.Settings), Permanently: joinParts("A route back to "+src+" by "+k.device+".", kept(s, r, f.Settings))}
	f.Harm = Harm{Symptom: scene.DatagramsLost, Amount: n, Unit: "packets", Text: fmt.Sprintf("%s packets from %s dropped", count(n), src)}
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

package suspects

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"snag/recording"
	"snag/scene"
)

var noRoute = &Suspect{
	Name:  "no-route",
	Title: "no route to where the packets are for",
	About: "The host, or a router of it, has no route to an address: a local sender's calls fail with ENETUNREACH, and what is only passing by is dropped and answered with ICMP, which senders of datagrams are seldom told. Programs that try IPv6 first and fall back to IPv4 fail harmlessly all day where IPv6 has no route.",
	Needs: []Need{
		{"host.netstat", true, "InNoRoutes and OutNoRoutes of each namespace"},
		{"drops.kfree_skb", false, "the address that a router had no route for"},
		{"sockets.errors", false, "whose calls failed, and to which address"},
		{"routes.table", false, "the routes that there are"},
		{"sockets.diag", false, "who sent what was dropped"},
	},
	For: []string{
		"decisive: as many packets to one address were dropped for want of a route as InNoRoutes counted, and a socket here sent them",
		"decisive: as many calls of one process failed with ENETUNREACH as OutNoRoutes counted",
		"strong: none of the routes recorded leads to the address",
	},
	Against: []string{
		"strong: a few packets now and then to an address that nobody has: somebody guesses",
		"strong: calls for IPv6 addresses where IPv6 has no default route: programs try it first and fall back",
	},
	LeadsTo: []Lead{
		{"error-answers", 10 * time.Second},
		{"uplink-blackhole", 5 * time.Second},
		{"packet-loss", 2 * time.Second}, {scene.DatagramsLost, 2 * time.Second}, {scene.ConnectLatency, 3 * time.Second}, {scene.ConnectionErrors, 5 * time.Second}, {scene.RequestLatency, 5 * time.Second}, {scene.StreamFreeze, 5 * time.Second}},
	Remedy:   Remedy{Permanently: "The route, where routes are kept (.network, netplan, the routing daemon)."},
	Verified: "InNoRoutes and OutNoRoutes stop",
	Next:     "nstat -az IpExtInNoRoutes IpOutNoRoutes Ip6InNoRoutes Ip6OutNoRoutes; ip route get ADDRESS",
	Weigh:    weighNoRoute,
}

func weighNoRoute(s *scene.Scene, r *recording.Recording) []Finding {
	return append(unroutedHere(s, r), unroutedCalls(s, r)...)
}

// unrouted tells what was dropped for want of a route. Kernels before 6.13 give no
// reason for it; the function that answers with ICMP stands for it.
func unrouted(d recording.Drop) bool {
	if d.Reason == "IP_INNOROUTES" || d.Reason == "IP_OUTNOROUTES" {
		return true
	}
	return (d.Reason == "" || d.Reason == "NOT_SPECIFIED") && (strings.HasPrefix(d.Place, "ip_error") || strings.HasPrefix(d.Place, "ip6_pkt_drop"))
}

// unroutedHere weighs what a namespace was to pass on.
func unroutedHere(s *scene.Scene, r *recording.Recording) (out []Finding) {
	by, order := dropsBy(r.Drops, func(d recording.Drop) (dropKey, bool) {
		return dropKey{netns: namespace(r, d.Netns), dst: recording.Host(d.Dst)}, !d.Benign && d.Dst != "" && unrouted(d)
	})
	total := map[uint64]steps{}
	for _, k := range order {
		total[k.netns] = append(total[k.netns], dropSteps(by[k])...)
	}
	for _, k := range order {
		all := dropSteps(by[k])
		n := all.sum()
		f := Finding{Subject: recording.Subject{Kind: recording.KindPeer, Netns: k.netns, Remote: k.dst}, Active: all.active(),
			Text:   fmt.Sprintf("%s packets to %s were dropped: no route", count(n), k.dst),
			Remedy: Remedy{Permanently: "A route to " + k.dst + ", where routes are kept (.network, netplan, the routing daemon)."},
			Next:   inNetns(s, k.netns, "ip route get "+k.dst)}
		e := Evidence{Side: For, Grade: Strong, Value: n, Unit: "packets", Source: "tracepoint skb:kfree_skb; /proc/net/netstat IpExt InNoRoutes", Origin: "no route",
			Text: fmt.Sprintf("%s packets to %s were dropped for want of a route", count(n), k.dst), Doubt: lossOf(r, "drops.kfree_skb", n)}
		counted, same, ok := countedIn(r, k.netns, total[k.netns], "node_netstat_IpExt_InNoRoutes", "node_netstat_Ip6_InNoRoutes")
		if ok {
			e.Text += fmt.Sprintf(" (%s in the namespace, InNoRoutes: %s)", count(total[k.netns].sum()), count(counted))
		}
		party, wanted := partyTo(s, r, by[k])
		if party == nil || wanted < wantedPackets {
			e.Side = Against
			e.Text += fmt.Sprintf("; sockets here sent %s of them, %d are the least that tell: somebody tries an address", count(wanted), wantedPackets)
			f.Evidence = []Evidence{e}
			out = append(out, f)
			continue
		}
		e.Text += "; " + party.Subject.Name + " sends them"
		if same {
			e.Grade = Decisive
		}
		f.Evidence = append(f.Evidence, e, routeEvidence(r, k.netns, k.dst))
		f.Related = senders(s, r, by[k])
		f.Harm = Harm{Symptom: scene.DatagramsLost, Amount: n, Unit: "packets", Text: fmt.Sprintf("%s packets to %s dropped", count(n), k.dst)}
		out = append(out, f)
	}
	return out
}

// routeEvidence says what the recorded routes have for an address.
func routeEvidence(r *recording.Recording, netns uint64, addr string) Evidence {
	e := Evidence{Side: For, Grade: Strong, Source: "ip route", Origin: "route"}
	n := 0
	for _, row := range r.Routes {
		if row.Netns == netns && !row.Exception {
			n++
		}
	}
	row, ok := routeTo(r, netns, addr)
	switch {
	case ok && row.Type != "":
		e.Text = fmt.Sprintf("the route to %s is of the type %s", addr, row.Type)
	case ok:
		e.Grade, e.Text = Weak, fmt.Sprintf("a route to %s by %s was recorded (it may have come later, or belong to another table)", addr, row.Device)
	case n == 0:
		e.Side, e.Grade, e.Text = Missing, Weak, "no routes were recorded in that namespace"
	default:
		e.Text = fmt.Sprintf("none of the %s recorded there leads to %s", plural(n, "route"), addr)
	}
	return e
}

// unroutedCalls weighs the calls of this host's processes that failed.
func unroutedCalls(s *scene.Scene, r *recording.Recording) (out []Finding) {
	type caller struct {
		netns uint64
		pid   int
		comm  string
		dst   string
	}
	by := map[caller]steps{}
	total := map[uint64]steps{}
	var order []caller
	for _, c := range r.CallErrors {
		if c.Errno != "ENETUNREACH" || c.Remote == "" {
			continue
		}
		k := caller{namespace(r, c.Netns), c.PID, c.Comm, recording.Host(c.Remote)}
		if by[k] == nil {
			order = append(order, k)
		}
		by[k] = append(by[k], step{oneSecond(c.T), float64(c.N)})
		total[k.netns] = append(total[k.netns], step{oneSecond(c.T), float64(c.N)})
	}
	sort.SliceStable(order, func(i, j int) bool { return by[order[i]].sum() > by[order[j]].sum() })
	for _, k := range order[:min(len(order), mostEnds)] {
		n := by[k].sum()
		f := Finding{Subject: recording.Subject{Kind: recording.KindPeer, Netns: k.netns, Remote: k.dst}, Active: by[k].active(),
			Related: []recording.Subject{{Kind: recording.KindProcess, PID: k.pid, Comm: k.comm, Netns: k.netns}},
			Text:    fmt.Sprintf("%s calls of %s[%d] to %s failed: no route", count(n), k.comm, k.pid, k.dst),
			Remedy:  Remedy{Permanently: "A route to " + k.dst + ", where routes are kept (.network, netplan, the routing daemon)."},
			Next:    inNetns(s, k.netns, "ip route get "+k.dst)}
		e := Evidence{Side: For, Grade: Strong, Value: n, Unit: "calls", Source: "errors of calls; /proc/net/snmp Ip OutNoRoutes", Origin: "no route",
			Text: fmt.Sprintf("%s calls of %s[%d] for %s failed with ENETUNREACH", count(n), k.comm, k.pid, k.dst), Doubt: lossOf(r, "sockets.errors", n)}
		counted, same, ok := countedIn(r, k.netns, total[k.netns], "node_netstat_Ip_OutNoRoutes", "node_netstat_Ip6_OutNoRoutes")
		if ok {
			e.Text += fmt.Sprintf(" (%s in the namespace, OutNoRoutes: %s)", count(total[k.netns].sum()), count(counted))
		}
		_, routed := routeTo(r, k.netns, "2000::1")
		switch {
		case strings.Contains(k.dst, ":") && !routed:
			e.Side, e.Text = Against, e.Text+"; IPv6 has no default route there: programs try it first and fall back to IPv4"
		case n < wantedPackets:
			e.Side, e.Text = Against, e.Text+fmt.Sprintf("; %d are the least that tell", wantedPackets)
		default:
			if same {
				e.Grade = Decisive
			}
			f.Evidence = append(f.Evidence, routeEvidence(r, k.netns, k.dst))
			f.Harm = Harm{Symptom: scene.ConnectionErrors, Amount: n, Unit: "calls", Text: fmt.Sprintf("%s calls to %s failed", count(n), k.dst)}
		}
		f.Evidence = append([]Evidence{e}, f.Evidence...)
		out = append(out, f)
	}
	return out
}

package net

import (
	"cmp"
	"fmt"
	"sort"
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

var noRoute = &suspect.Suspect{
	Name:  "no-route",
	Title: "no route to where the packets are for",
	About: "The host, or a router of it, has no route to an address: a local sender's calls fail with ENETUNREACH, and what is only passing by is dropped and answered with ICMP, which senders of datagrams are seldom told. Programs that try IPv6 first and fall back to IPv4 fail harmlessly all day where IPv6 has no route.",
	Needs: []suspect.Need{
		{Measure: "host.netstat", Must: true, Why: "InNoRoutes and OutNoRoutes of each namespace"},
		{Measure: "drops.kfree_skb", Must: false, Why: "the address that a router had no route for"},
		{Measure: "sockets.errors", Must: false, Why: "which process' calls failed, and for what address"},
		{Measure: "routes.table", Must: false, Why: "the routes that there are"},
		{Measure: "sockets.diag", Must: false, Why: "who sent what was dropped"},
	},
	For: []string{
		"decisive: as many packets to one address were dropped for want of a route as InNoRoutes counted, and a socket here sent them",
		"decisive: as many packets of a connection of this host were dropped for want of a route as OutNoRoutes counted",
		"decisive: as many calls of one process failed with ENETUNREACH as OutNoRoutes counted",
		"strong: none of the routes recorded leads to the address",
	},
	Against: []string{
		"strong: a few packets now and then to an unused address: somebody guesses",
		"strong: calls for IPv6 addresses where IPv6 has no default route: programs try it first and fall back",
	},
	LeadsTo: []suspect.Lead{
		{To: "error-answers", Lag: 10 * time.Second},
		{To: "uplink-blackhole", Lag: 5 * time.Second},
		{To: "packet-loss", Lag: 2 * time.Second}, {To: "half-open-peer", Lag: 30 * time.Second}, {To: scene.DatagramsLost, Lag: 2 * time.Second}, {To: scene.ConnectLatency, Lag: 3 * time.Second}, {To: scene.ConnectionErrors, Lag: 5 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second}},
	Remedy:   suspect.Remedy{Permanently: "The route, where routes are kept (.network, netplan, the routing daemon)."},
	Verified: "InNoRoutes and OutNoRoutes stop",
	Next:     "nstat -az IpExtInNoRoutes IpOutNoRoutes Ip6InNoRoutes Ip6OutNoRoutes; ip route get ADDRESS",
	Weigh:    weighNoRoute,
}

func weighNoRoute(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	return append(unroutedHere(s, r), unroutedCalls(s, r)...)
}

// unrouted reports what was dropped for want of a route. Kernels before 6.13 give no
// reason for it; the function that answers with ICMP stands for it.
func unrouted(d recording.Drop) bool {
	if d.Reason == "IP_INNOROUTES" || d.Reason == "IP_OUTNOROUTES" {
		return true
	}
	return (d.Reason == "" || d.Reason == "NOT_SPECIFIED") && (strings.HasPrefix(d.Place, "ip_error") || strings.HasPrefix(d.Place, "ip6_pkt_drop"))
}

// ownUnrouted packets of a connection tell: its sender sends ever more rarely.
const ownUnrouted = 3

// unroutedOf are those drops. What a connection sends is dropped before it has an
// address (__ip_queue_xmit, net/ipv4/ip_output.c): its socket says whom it is for.
func unroutedOf(s *scene.Scene, r *recording.Recording) (out []recording.Drop) {
	for _, d := range r.Drops {
		if d.Benign || !unrouted(d) {
			continue
		}
		if k := s.SocketByInode(measure.Namespace(r, d.Netns), d.Inode); d.Dst == "" && d.Sent && k != nil {
			d.Src, d.Dst = k.First().Local, k.First().Remote
		}
		if d.Dst != "" {
			out = append(out, d)
		}
	}
	return out
}

// unroutedHere weighs what a namespace was to pass on, or to send on its connections.
func unroutedHere(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	by, order := measure.DropsBy(unroutedOf(s, r), func(d recording.Drop) (measure.DropKey, bool) {
		k := measure.DropKey{Netns: measure.Namespace(r, d.Netns), Dst: recording.Host(d.Dst)}
		if d.Sent {
			k.Proto = d.Proto
		}
		return k, true
	})
	type half struct {
		netns uint64
		sent  bool
	}
	total := map[half]measure.Steps{}
	for _, k := range order {
		h := half{k.Netns, by[k][0].Sent}
		total[h] = append(total[h], measure.DropSteps(by[k])...)
	}
	for _, k := range order {
		all, h := measure.DropSteps(by[k]), half{k.Netns, by[k][0].Sent}
		counters, least := []string{"node_netstat_IpExt_InNoRoutes", "node_netstat_Ip6_InNoRoutes"}, float64(wantedPackets)
		drops := source.Drops().And(source.At("/proc/net/netstat IpExt", source.Ref{Word: "InNoRoutes", Series: "node_netstat_IpExt_InNoRoutes"}))
		if h.sent {
			counters = []string{"node_netstat_Ip_OutNoRoutes", "node_netstat_Ip6_OutNoRoutes"}
			drops = source.Drops().And(source.SNMP("Ip", "OutNoRoutes"))
			if k.Proto == "tcp" {
				least = ownUnrouted
			}
		}
		n := all.Sum()
		f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindPeer, Netns: k.Netns, Remote: k.Dst}, Active: all.Active(),
			Text:   fmt.Sprintf("%s packets to %s were dropped: no route", units.Count(n), k.Dst),
			Remedy: suspect.Remedy{Permanently: "A route to " + k.Dst + ", where routes are kept (.network, netplan, the routing daemon)."},
			Next:   remedy.InNetns(s, k.Netns, "ip route get "+k.Dst)}
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: n, Unit: "packets", Source: drops, Origin: "no route",
			Text: fmt.Sprintf("%s packets to %s were dropped for want of a route", units.Count(n), k.Dst), Doubt: measure.LossOf(r, "drops.kfree_skb", n)}
		counted, same, ok := countedIn(r, k.Netns, total[h], counters...)
		if ok {
			name := counters[0][strings.LastIndex(counters[0], "_")+1:]
			e.Text += fmt.Sprintf(" (%s in the namespace, %s: %s)", units.Count(total[h].Sum()), name, units.Count(counted))
		}
		party, wanted := partyTo(s, r, by[k])
		if !enough(wanted, party) && (party == nil || wanted < least) {
			e.Side = suspect.Against
			e.Text += fmt.Sprintf("; sockets here sent %s of them, %.0f are the least that count: somebody tries an address", units.Count(wanted), least)
			f.Evidence = []suspect.Evidence{e}
			out = append(out, f)
			continue
		}
		e.Text += "; " + party.Subject.Name + " sends them"
		if same {
			e.Grade = suspect.Decisive
		}
		f.Evidence = append(f.Evidence, e, routeEvidence(r, k.Netns, k.Dst))
		f.Related = measure.Senders(s, r, by[k])
		f.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: n, Unit: "packets", Text: fmt.Sprintf("%s packets to %s dropped", units.Count(n), k.Dst)}
		out = append(out, f)
	}
	return out
}

// routeEvidence says what the recorded routes have for an address.
func routeEvidence(r *recording.Recording, netns uint64, addr string) suspect.Evidence {
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Source: source.Of("ip route"), Origin: "route"}
	n := 0
	for _, row := range r.Routes {
		if row.Netns == netns && !row.Exception {
			n++
		}
	}
	row, ok := measure.RouteTo(r, netns, addr)
	switch {
	case ok && row.Type != "":
		e.Text = fmt.Sprintf("the route to %s is of the type %s", addr, row.Type)
	case ok:
		e.Grade, e.Text = suspect.Weak, fmt.Sprintf("a route to %s by %s was recorded (it may have come later, or belong to another table)", addr, row.Device)
	case n == 0:
		e.Side, e.Grade, e.Text = suspect.Missing, suspect.Weak, "no routes were recorded in that namespace"
	default:
		e.Text = fmt.Sprintf("none of the %s recorded there leads to %s", units.Plural(n, "route"), addr)
	}
	return e
}

// unroutedCalls weighs the calls of this host's processes that failed.
func unroutedCalls(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	type caller struct {
		netns uint64
		pid   int
		comm  string
		dst   string
	}
	by := map[caller]measure.Steps{}
	total := map[uint64]measure.Steps{}
	var order []caller
	for _, c := range r.CallErrors {
		if c.Errno != "ENETUNREACH" || c.Remote == "" && c.Proto != "udp" {
			continue
		}
		k := caller{measure.Namespace(r, c.Netns), c.PID, c.Comm, recording.Host(c.Remote)}
		if by[k] == nil {
			order = append(order, k)
		}
		by[k] = append(by[k], measure.Step{Interval: measure.OneSecond(c.T), N: float64(c.N)})
		total[k.netns] = append(total[k.netns], measure.Step{Interval: measure.OneSecond(c.T), N: float64(c.N)})
	}
	sort.SliceStable(order, func(i, j int) bool { return by[order[i]].Sum() > by[order[j]].Sum() })
	for _, k := range order[:min(len(order), measure.MostEnds)] {
		n := by[k].Sum()
		what, where, who := "calls", "to "+k.dst, recording.Subject{Kind: recording.KindProcess, PID: k.pid, Comm: k.comm, Netns: k.netns}
		f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindPeer, Netns: k.netns, Remote: k.dst}, Active: by[k].Active(),
			Related: []recording.Subject{who}, Next: remedy.InNetns(s, k.netns, "ip route get "+k.dst)}
		if k.dst == "" { // the address stands in the call, and nobody looked into it
			what, where, f.Subject, f.Related = "datagrams", "to addresses that were not looked at", who, nil
			f.Next = remedy.InNetns(s, k.netns, fmt.Sprintf("strace -f -e trace=sendto,sendmsg,sendmmsg -p %d   # to which address; then ip route get ADDRESS", k.pid))
		}
		f.Text = fmt.Sprintf("%s %s of %s[%d] %s failed: no route", units.Count(n), what, k.comm, k.pid, where)
		f.Remedy = suspect.Remedy{Permanently: "A route to " + cmp.Or(k.dst, "where it sends") + ", where routes are kept (.network, netplan, the routing daemon)."}
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: n, Unit: "calls", Source: source.Of("errors of calls", source.CallErrors).And(source.SNMP("Ip", "OutNoRoutes")), Origin: "no route",
			Text: fmt.Sprintf("%s %s of %s[%d] %s failed with ENETUNREACH", units.Count(n), what, k.comm, k.pid, where), Doubt: measure.LossOf(r, "sockets.errors", n)}
		counted, same, ok := countedIn(r, k.netns, total[k.netns], "node_netstat_Ip_OutNoRoutes", "node_netstat_Ip6_OutNoRoutes")
		if ok {
			e.Text += fmt.Sprintf(" (%s in the namespace, OutNoRoutes: %s)", units.Count(total[k.netns].Sum()), units.Count(counted))
		}
		_, routed := measure.RouteTo(r, k.netns, "2000::1")
		switch {
		case strings.Contains(k.dst, ":") && !routed:
			e.Side, e.Text = suspect.Against, e.Text+"; IPv6 has no default route there: programs try it first and fall back to IPv4"
		case n < wantedPackets:
			e.Side, e.Text = suspect.Against, e.Text+fmt.Sprintf("; %d are the least that count", wantedPackets)
		default:
			if same {
				e.Grade = suspect.Decisive
			}
			f.Harm = suspect.Harm{Symptom: scene.ConnectionErrors, Amount: n, Unit: "calls", Text: fmt.Sprintf("%s calls %s failed", units.Count(n), where)}
			if k.dst == "" {
				f.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: n, Unit: "packets", Text: fmt.Sprintf("%s datagrams of %s[%d] were not sent", units.Count(n), k.comm, k.pid)}
				break
			}
			f.Evidence = append(f.Evidence, routeEvidence(r, k.netns, k.dst))
		}
		f.Evidence = append([]suspect.Evidence{e}, f.Evidence...)
		out = append(out, f)
	}
	return out
}

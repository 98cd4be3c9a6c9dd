package net

import (
	"fmt"
	"slices"
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

var netfilterDrop = &suspect.Suspect{
	Name:  "netfilter-drop",
	Title: "a firewall rule drops traffic that is wanted",
	About: "An nftables or iptables rule drops packets of a flow or port that a program here uses. The kernel says that netfilter dropped them and at which hook, not by which rule: read the rules' counters. Dropping strangers' packets to closed ports is a firewall's work and no fault.",
	Needs: []suspect.Need{
		{Measure: "drops.kfree_skb", Must: true, Why: "NETFILTER_DROP by port and flow"},
		{Measure: "drops.stacks", Must: false, Why: "the hook"},
		{Measure: "routes.rules", Must: false, Why: "the rule, by its counter"},
		{Measure: "routes.conntrack", Must: false, Why: "packets that connection tracking refused: no rule did"},
		{Measure: "sockets.diag", Must: false, Why: "whether a socket here wants the packets"},
	},
	For: []string{
		"decisive: NETFILTER_DROP drops of a port or flow that a socket on this host holds; of several ports of an address together",
		"decisive: one packet of an established connection that was then reset, though its peer sent no reset: the rule rejects",
		"decisive: three packets of an established connection and more, from which on it received nothing",
		"strong: NETFILTER_DROP at a steady rate to one port; segments of the same flow sent again",
		"strong: the counter of one rule that drops grew by as much: that rule",
	},
	Against: []string{
		"strong: a handful of packets to many closed ports: strays, a scan",
		"decisive: connection tracking, its table full, dropped as many: see conntrack-full",
		"trap: a closed port (NO_SOCKET, NoPorts) looks the same from the sender",
	},
	LeadsTo: []suspect.Lead{
		{To: "error-answers", Lag: 10 * time.Second}, {To: "service-killed", Lag: 5 * time.Second}, {To: "encoder-stall", Lag: 5 * time.Second},
		{To: "uplink-blackhole", Lag: 5 * time.Second},
		{To: "packet-loss", Lag: 2 * time.Second}, {To: "half-open-peer", Lag: 30 * time.Second}, {To: scene.DatagramsLost, Lag: 2 * time.Second}, {To: scene.ConnectLatency, Lag: 3 * time.Second}, {To: scene.ConnectionErrors, Lag: 10 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second}},
	Remedy: suspect.Remedy{
		Now:         "nft insert rule FAMILY TABLE CHAIN ip daddr ADDRESS udp dport NUMBER accept",
		Permanently: "Change the rule in the file that it is loaded from (/etc/nftables.conf).",
	},
	Verified: "NETFILTER_DROP stops",
	Next:     "nft -a list ruleset; iptables-save -c",
	Weigh:    weighNetfilter,
}

const (
	// wantedPackets: fewer to a port that is held here are strangers knocking.
	wantedPackets = 10
	// To a port that nobody holds: more packets than a scan sends to one port,
	// in more seconds than its retries take (1 s, 2 s, 4 s).
	steadyPackets = 50
	steadySeconds = 5
)

func weighNetfilter(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	ports, order := measure.DropsBy(r.Drops, func(d recording.Drop) (measure.DropKey, bool) {
		ok := !d.Benign && measure.BecauseOf(d, "NETFILTER_DROP", "nf_hook_slow")
		return measure.DropKey{Netns: measure.Namespace(r, d.Netns), Proto: d.Proto, Dst: scene.Address(d.Dst)}, ok
	})
	var out []suspect.Finding
	strays, strayPorts, netns := 0.0, 0, uint64(0)
	var many []*portsOf
	few := map[measure.DropKey]*portsOf{}
	var hosts []measure.DropKey
	for _, k := range order {
		rows := ports[k]
		all := measure.DropSteps(rows)
		held := wantedBy(s, r, k, rows)
		// Nobody holds ICMP: to drop it is a firewall's work, and what comes of it
		// (a path MTU that is not learnt) has a suspect of its own.
		steady := all.Sum() >= steadyPackets && seconds(all) >= steadySeconds && k.Dst != "" && !strings.HasPrefix(k.Proto, "icmp")
		if enough(all.Sum(), held) || steady || len(resetBehind(r, rows)) > 0 || cutShort(s, k, rows) {
			many = joined(r, many, &portsOf{key: k, ports: []string{k.Dst}, rows: rows, held: []*scene.Socket{held}})
			continue
		}
		if host := (measure.DropKey{Netns: k.Netns, Proto: k.Proto, Dst: recording.Host(k.Dst)}); held != nil {
			if few[host] == nil {
				few[host] = &portsOf{key: k}
				hosts = append(hosts, host)
			}
			few[host].add(k.Dst, rows, held)
		}
		strays, strayPorts, netns = strays+all.Sum(), strayPorts+1, k.Netns
	}
	for _, p := range many {
		out = append(out, netfilterFinding(s, r, p))
	}
	for _, host := range hosts { // a few to each of many ports that are wanted
		if p := few[host]; len(p.ports) > 1 && measure.DropSteps(p.rows).Sum() >= wantedPackets {
			out = append(out, netfilterFinding(s, r, p))
		}
	}
	if len(out) == 0 && strays > 0 {
		out = append(out, suspect.Finding{Subject: recording.Subject{Kind: recording.KindNetns, Netns: netns}, Evidence: []suspect.Evidence{{
			Side: suspect.Against, Grade: suspect.Strong, Value: strays, Unit: "packets", Source: source.Drops("NETFILTER_DROP"),
			Text: fmt.Sprintf("a firewall dropped %s to %s, none at a steady rate or wanted by a socket here: its work", units.Plural(int(strays), "packet"), units.Plural(strayPorts, "port"))}}})
	}
	return out
}

// seconds in which a count grew.
func seconds(all measure.Steps) int {
	var at []recording.Time
	for _, s := range all {
		at = append(at, s.Start/1e9)
	}
	slices.Sort(at)
	return len(slices.Compact(at))
}

// wantedBy is the socket on this host that the packets were for, in that
// namespace, else the one that sent them. Nil for none.
func wantedBy(s *scene.Scene, r *recording.Recording, k measure.DropKey, rows []recording.Drop) *scene.Socket {
	ends := measure.ByEnds(rows)
	for _, d := range ends {
		if c := s.SocketAt(k.Netns, k.Proto, k.Dst, scene.Address(d.Src)); c != nil {
			return c
		}
	}
	if hookOf(r, rows) != "forward" { // else for another machine, whoever holds that port here
		c := s.UDPOn(k.Netns, k.Dst)
		if k.Proto == "tcp" {
			c = s.ListenerOn(k.Netns, k.Dst)
		}
		if c != nil {
			return c
		}
	}
	for _, d := range ends {
		if c := measure.HolderOf(s, r, k.Proto, d.Src, d.Dst); c != nil {
			return c
		}
	}
	return nil
}

func netfilterFinding(s *scene.Scene, r *recording.Recording, p *portsOf) suspect.Finding {
	k, rows, to := p.key, p.rows, p.words()
	all := measure.DropSteps(rows)
	n := all.Sum()
	sub := recording.Subject{Kind: recording.KindPort, Netns: k.Netns, Proto: k.Proto, Local: k.Dst}
	f := suspect.Finding{Subject: sub, Active: all.Active(), Related: measure.Senders(s, r, rows),
		Remedy: suspect.Remedy{Permanently: "Find the rule by its counter (" + remedy.InNetns(s, k.Netns, "nft -a list ruleset") + "), and let " + k.Proto + " " + to + " pass in the file that it is loaded from."},
		Next:   remedy.InNetns(s, k.Netns, "nft -a list ruleset | grep -E 'hook|drop|counter'"),
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: n, Unit: "packets", Source: source.Drops("NETFILTER_DROP"), Origin: "NETFILTER_DROP",
		Doubt: measure.LossOf(r, "drops.kfree_skb", n),
		Text:  fmt.Sprintf("netfilter dropped %s to %s in %d s", units.Plural(int(n), k.Proto+" packet"), to, seconds(all))}
	hook := hookOf(r, rows)
	if hook != "" {
		e.Text += " at the hook " + hook
	}
	if first := p.held[0]; first != nil {
		e.Grade = suspect.Decisive
		e.Text += "; " + first.Subject.Name + " uses that port"
		if more := len(p.ports) - 1; more > 0 {
			e.Text += fmt.Sprintf(", and each of the other %d is used", more)
		}
		for _, h := range p.held {
			f.Related = append(f.Related, h.Subject)
		}
	}
	f.Related = append(f.Related, p.refused(s, r)...)
	f.Evidence = append(f.Evidence, e)
	f.Evidence = append(f.Evidence, rejected(resetBehind(r, rows))...)
	f.Evidence = append(f.Evidence, byRule(s, r, &f, k.Netns, hook, all)...)
	again := 0.0
	for _, t := range r.Retransmits {
		if k.Proto == "tcp" && (slices.Contains(p.ports, scene.Address(t.Remote)) || slices.Contains(p.ports, scene.Address(t.Local))) {
			again += float64(t.N)
		}
	}
	if again > 0 {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: again, Unit: "segments", Source: source.Retransmit, Origin: "retransmit",
			Text: fmt.Sprintf("%s segments of its flows were sent again", units.Count(again))})
	}
	f.Text = fmt.Sprintf("a firewall rule dropped %s to it", units.Plural(int(n), "packet"))
	if len(p.ports) > 1 {
		f.Remedy.Now = "" // it would let one of the ports pass
		if _, _, known := ruleThatDropped(r, k.Netns, hook, all); !known {
			f.Remedy.Permanently = fmt.Sprintf("Find the rule by its counter (%s), and let %s to %s pass in the file that it is loaded from.", remedy.InNetns(s, k.Netns, "nft -a list ruleset"), k.Proto, to)
		}
		f.Text = fmt.Sprintf("a firewall rule dropped %s packets to %s", units.Count(n), to)
	}
	if hook != "" {
		f.Text += " (hook " + hook + ")"
	}
	if src := recording.Host(rows[0].Src); src != "" {
		f.Text += ", from " + src
	}
	if strings.HasPrefix(k.Proto, "icmp") {
		// Nobody's data: what its absence leads to (a path whose MTU nobody learns) is
		// another's to tell.
		return f
	}
	f.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: n, Unit: "packets", Text: fmt.Sprintf("%s to %s dropped", units.Plural(int(n), k.Proto+" packet"), to)}
	return f
}

// refused are the processes whose connections to these ports failed: a rule that rejects tells
// them so at once, and no socket of theirs is left to be the sender of what was dropped.
func (p *portsOf) refused(s *scene.Scene, r *recording.Recording) (out []recording.Subject) {
	for _, c := range scene.Refusals(r) {
		if p.key.Proto != "tcp" || !slices.Contains(p.ports, c.Remote) || scene.OnLoopback(c.Remote) && c.Netns != p.key.Netns {
			continue
		}
		out = append(out, c.Caller(s))
	}
	return out
}

// byRule names the rule by its counter, in the finding too, or speaks for the lack of
// one: what a full connection tracking table drops, netfilter drops without a rule.
func byRule(s *scene.Scene, r *recording.Recording, f *suspect.Finding, netns uint64, hook string, all measure.Steps) (out []suspect.Evidence) {
	everything := filtered(r, netns)
	if n, same, _ := countedIn(r, netns, everything, "node_nf_conntrack_stat_drop"); same && n >= wantedPackets {
		return []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: n, Unit: "packets", Source: source.ConntrackStat("drop"), Origin: "conntrack",
			Text: fmt.Sprintf("connection tracking itself dropped %s packets, netfilter %s in all: no rule did", units.Count(n), units.Count(everything.Sum()))}}
	}
	rule, hits, ok := ruleThatDropped(r, netns, hook, all)
	if !ok {
		rule, hits, ok = ruleThatDropped(r, netns, hook, everything) // one rule for several ports
	}
	if !ok {
		return nil
	}
	f.Subject.Path = "nft rule " + ruleName(rule)
	f.Remedy = suspect.Remedy{Now: letPass(s, rule, f.Subject),
		Permanently: fmt.Sprintf("Change the rule %s (%s) in the file that it is loaded from.", ruleName(rule), remedy.InNetns(s, netns, fmt.Sprintf("nft -a list chain %s %s %s", rule.Family, rule.Of, rule.Chain)))}
	return []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: hits, Unit: "packets", Source: source.Of("nft -a list ruleset"), Origin: "nft counter",
		Text: fmt.Sprintf("the counter of the rule %s grew by %s in the same seconds", ruleName(rule), units.Count(hits))}}
}

// letPass puts a rule before the one that drops, for what that dropped and no more. ""
// where the chain takes no addresses.
func letPass(s *scene.Scene, rule recording.Rule, port recording.Subject) string {
	ip := "ip"
	if strings.Contains(recording.Host(port.Local), ":") {
		ip = "ip6"
	}
	if rule.Family != "inet" && rule.Family != ip || port.Proto != "tcp" && port.Proto != "udp" || recording.Port(port.Local) == "" {
		return ""
	}
	return remedy.RunIn(s, rule.Netns, fmt.Sprintf("nft insert rule %s %s %s %s daddr %s %s dport %s accept", rule.Family, remedy.Quoted(rule.Of), remedy.Quoted(rule.Chain), ip, recording.Host(port.Local), port.Proto, recording.Port(port.Local)))
}

// hooks are the callers of nf_hook_slow by which the hook is known
// (include/linux/netfilter.h, NF_HOOK and nf_hook).
var hooks = []struct{ function, hook string }{
	{"ip_local_deliver", "input"}, {"ip6_input", "input"},
	{"ip_forward", "forward"}, {"ip6_forward", "forward"},
	{"__ip_local_out", "output"}, {"__ip6_local_out", "output"}, {"ip6_xmit", "output"},
	{"ip_output", "postrouting"}, {"ip_mc_output", "postrouting"}, {"ip6_output", "postrouting"},
	{"ip_rcv", "prerouting"}, {"ipv6_rcv", "prerouting"}, {"ip_sabotage_in", "prerouting"},
	{"nf_ingress", "ingress"}, {"__netif_receive_skb_core", "ingress"},
	{"br_handle_frame", "bridge"}, {"br_nf_hook_thresh", "bridge"},
}

// hookOf reads the hook off the first stack: the function that called the hooks.
// "" where no stack was taken.
func hookOf(r *recording.Recording, rows []recording.Drop) string {
	for _, d := range rows {
		for _, st := range r.Stacks {
			if d.Stack == 0 || st.ID != d.Stack {
				continue
			}
			after := slices.IndexFunc(st.Frames, func(f string) bool { return strings.HasPrefix(f, "nf_hook_slow") })
			for _, frame := range st.Frames[after+1:] {
				name, _, _ := strings.Cut(frame, ".")
				name, _, _ = strings.Cut(name, "+")
				for _, h := range hooks {
					if name == h.function {
						return h.hook
					}
				}
			}
		}
	}
	return ""
}

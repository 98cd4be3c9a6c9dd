package suspects

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"snag/recording"
	"snag/scene"
)

var udpPortClosed = &Suspect{
	Name:  "udp-port-closed",
	Title: "datagrams to a closed UDP port",
	About: "Somebody sends to a UDP port that no socket holds: a sender that goes on after the receiver closed (RTP after BYE), or one that began too early. The kernel answers with few ICMP messages, and only a connected sender ever hears of them. A firewall's drops look alike from the sender's side.",
	Needs: []Need{
		{"drops.kfree_skb", true, "which port the datagrams were for"},
		{"host.netstat", true, "NoPorts of the namespace"},
		{"sockets.diag", false, "who sends, and who had the port"},
	},
	For: []string{
		"decisive: the NO_SOCKET drops of a namespace are as many as its UdpNoPorts grew, and this port's are among them",
		"strong: the socket that had the port closed just before",
		"decisive (capture): the destination itself says by ICMP that nobody holds the port, and its sender goes on",
	},
	Against: []string{
		"decisive: UdpNoPorts stood still",
		"trap: a few stray datagrams to many ports; a firewall's drops (NETFILTER_DROP, no NoPorts)",
	},
	InFiles:  map[string][]string{"drops.kfree_skb": {"pcap.udp"}, "host.netstat": {"pcap.udp"}, "sockets.diag": {"pcap.udp"}},
	LeadsTo:  []Lead{{scene.DatagramsLost, 2 * time.Second}, {scene.StreamFreeze, 5 * time.Second}},
	Remedy:   Remedy{Program: "Stop the sender before its receiver closes the port, or let the receiver keep it open."},
	Verified: "UdpNoPorts stands still",
	Next:     "nstat -az UdpNoPorts; tcpdump -ni any 'icmp[icmptype] == icmp-unreach'",
	Weigh:    weighUDPPortClosed,
}

// strayShare: below this share of the namespace's, others matter more.
const strayShare = 0.05

func weighUDPPortClosed(s *scene.Scene, r *recording.Recording) []Finding {
	ports, order := dropsBy(r.Drops, func(d recording.Drop) (dropKey, bool) {
		ok := d.Proto == "udp" && !d.Benign && becauseOf(d, "NO_SOCKET", noSocketPlaces...)
		return dropKey{netns: namespace(r, d.Netns), proto: "udp", dst: scene.Address(d.Dst)}, ok
	})
	all := map[uint64]steps{}
	strays := map[uint64]int{}
	for k, rows := range ports {
		all[k.netns] = append(all[k.netns], dropSteps(rows)...)
	}
	out := closedInCapture(r)
	for _, k := range order {
		rows := ports[k]
		n := dropSteps(rows).sum()
		if k.dst == "" || n < strayDatagrams || n < strayShare*all[k.netns].sum() {
			strays[k.netns]++
			continue
		}
		out = append(out, closedPort(s, r, k, rows, all[k.netns]))
	}
	if len(out) > 0 {
		return out
	}
	for _, netns := range slices.Sorted(maps.Keys(strays)) {
		out = append(out, Finding{Subject: recording.Subject{Kind: recording.KindNetns, Netns: netns}, Evidence: []Evidence{{
			Side: Against, Grade: Strong, Value: all[netns].sum(), Unit: "datagrams", Source: "tracepoint skb:kfree_skb NO_SOCKET",
			Text: fmt.Sprintf("%s datagrams to %s, none of them got %d: strays", count(all[netns].sum()), plural(strays[netns], "closed port"), strayDatagrams)}}})
	}
	return out
}

func closedPort(s *scene.Scene, r *recording.Recording, k dropKey, rows []recording.Drop, all steps) Finding {
	mine := dropSteps(rows)
	n := mine.sum()
	sub := recording.Subject{Kind: recording.KindPort, Netns: k.netns, Proto: "udp", Local: k.dst}
	f := Finding{
		Subject: sub, Active: mine.active(), Related: senders(s, r, rows),
		Harm:   Harm{Symptom: scene.DatagramsLost, Amount: n, Unit: "datagrams", Text: fmt.Sprintf("%s datagrams to %s lost: no socket holds the port", count(n), k.dst)},
		Remedy: stopSending("the sender"),
		Next:   inNetns(s, k.netns, "tcpdump -ni any -c 5 udp dst port "+recording.Port(k.dst)),
	}
	noPorts, seen, measured := udpCount(r, k.netns, "NoPorts")
	e := Evidence{Side: For, Grade: Strong, Value: n, Unit: "datagrams", Source: "tracepoint skb:kfree_skb NO_SOCKET; /proc/net/snmp Udp NoPorts",
		Origin: "NO_SOCKET",
		Text:   fmt.Sprintf("%s datagrams to %s were dropped for NO_SOCKET", count(n), k.dst)}
	inAll, same := all.agreeIn(noPorts.sum(), seen)
	switch {
	case !measured || noPorts.sum() == 0 && !all.wellInside(seen): // the namespace's counters were not read at that time
	case noPorts.sum() == 0:
		e = Evidence{Side: Against, Grade: Decisive, Unit: "datagrams", Source: e.Source, Text: e.Text + "; UdpNoPorts stood still"}
	case same:
		e.Grade = Decisive
		e.Text += fmt.Sprintf("; %s in its namespace in all, where UdpNoPorts grew by %s", count(inAll), count(noPorts.sum()))
	default:
		e.Text += fmt.Sprintf("; %s in its namespace in all, but UdpNoPorts grew by %s", count(inAll), count(noPorts.sum()))
		e.Doubt = lossOf(r, "drops.kfree_skb", n)
	}
	f.Evidence = append(f.Evidence, e)
	from := ""
	if len(f.Related) > 0 {
		from = " by " + f.Related[0].Name
		f.Remedy = stopSending(f.Related[0].Name)
	} else if src := rows[0].Src; src != "" {
		from = " by " + src
		f.Related = append(f.Related, recording.Subject{Kind: recording.KindPeer, Netns: k.netns, Remote: recording.Host(src)})
	}
	f.Text = fmt.Sprintf("%s datagrams were sent to it%s, and no socket holds it", count(n), from)
	if had, ok := hadPort(s, r, k, f.Active[0].Start); ok {
		f.Related = append(f.Related, had.Subject)
		f.Text += fmt.Sprintf("; %s held it until %s", s.Name(had.Subject), had.T)
		f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: Strong, Value: f.Active[0].Start.Sub(had.T).Seconds(), Unit: "seconds",
			Source: "socket closed", Origin: "close", Text: fmt.Sprintf("%s closed its socket on that port at %s", s.Name(had.Subject), had.T)})
	}
	if icmp, ok := grew(r, k.netns, "node_netstat_Icmp_OutDestUnreachs"); ok {
		f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: Weak, Value: icmp, Unit: "messages", Source: "/proc/net/snmp Icmp OutDestUnreachs", Origin: "NO_SOCKET",
			Text: fmt.Sprintf("the senders were told %s times (ICMP unreachable is rate-limited)", count(icmp))})
	}
	return f
}

func stopSending(who string) Remedy {
	return Remedy{Program: "Stop " + who + " sending there before its receiver closes the port, or let the receiver keep it open."}
}

// hadPort is the last close of a socket that held the port, before the drops
// began, within a sample of them.
func hadPort(s *scene.Scene, r *recording.Recording, k dropKey, begin recording.Time) (recording.Event, bool) {
	for i := len(r.Events) - 1; i >= 0; i-- {
		e := r.Events[i]
		if e.Kind != recording.EventSocketClosed || e.Subject.Proto != "udp" || namespace(r, e.Subject.Netns) != k.netns || e.T > begin.Add(time.Second) {
			continue
		}
		local := scene.Address(e.Subject.Local)
		if local == "" {
			local = e.Subject.Local
		}
		if local == k.dst || isWildcard(local) && recording.Port(local) == recording.Port(k.dst) {
			if e.Subject.Kind == "" {
				e.Subject.Kind = recording.KindSocket
			}
			return e, true
		}
	}
	return recording.Event{}, false
}

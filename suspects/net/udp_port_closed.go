package net

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var udpPortClosed = &suspect.Suspect{
	Name:  "udp-port-closed",
	Title: "datagrams to a closed UDP port",
	About: "Somebody sends to a UDP port that no socket holds: a sender that goes on after the receiver closed (RTP after BYE), or one that began too early. The kernel answers with few ICMP messages, and only a connected sender ever hears of them. A firewall's drops look alike from the sender's side.",
	Needs: []suspect.Need{
		{Measure: "drops.kfree_skb", Must: true, Why: "which port the datagrams were for"},
		{Measure: "host.netstat", Must: true, Why: "NoPorts of the namespace"},
		{Measure: "sockets.diag", Must: false, Why: "who sends, and who had the port"},
	},
	For: []string{
		"decisive: the NO_SOCKET drops of a namespace are as many as its UdpNoPorts grew, and this port's are among them",
		"strong: the socket that had the port closed just before",
		"decisive (capture): the destination itself says by ICMP that the port is closed, and its sender goes on",
	},
	Against: []string{
		"decisive: UdpNoPorts did not grow",
		"trap: a few stray datagrams to many ports; a firewall's drops (NETFILTER_DROP, no NoPorts)",
	},
	InFiles:  map[string][]string{"drops.kfree_skb": {"pcap.udp"}, "host.netstat": {"pcap.udp"}, "sockets.diag": {"pcap.udp"}},
	LeadsTo:  []suspect.Lead{{To: scene.DatagramsLost, Lag: 2 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second}},
	Remedy:   suspect.Remedy{Program: "Stop the sender before its receiver closes the port, or let the receiver keep it open."},
	Verified: "UdpNoPorts does not grow",
	Next:     "nstat -az UdpNoPorts; tcpdump -ni any 'icmp[icmptype] == icmp-unreach'",
	Weigh:    weighUDPPortClosed,
}

// strayShare: below this share of the namespace's, others matter more.
const strayShare = 0.05

func weighUDPPortClosed(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	ports, order := measure.DropsBy(r.Drops, func(d recording.Drop) (measure.DropKey, bool) {
		ok := d.Proto == "udp" && !d.Benign && measure.BecauseOf(d, "NO_SOCKET", measure.NoSocketPlaces...)
		return measure.DropKey{Netns: measure.Namespace(r, d.Netns), Proto: "udp", Dst: scene.Address(d.Dst)}, ok
	})
	all := map[uint64]measure.Steps{}
	strays := map[uint64]int{}
	for k, rows := range ports {
		all[k.Netns] = append(all[k.Netns], measure.DropSteps(rows)...)
	}
	out := closedInCapture(r)
	for _, k := range order {
		rows := ports[k]
		n := measure.DropSteps(rows).Sum()
		if k.Dst == "" || n < measure.StrayDatagrams || n < strayShare*all[k.Netns].Sum() {
			strays[k.Netns]++
			continue
		}
		out = append(out, closedPort(s, r, k, rows, all[k.Netns]))
	}
	if len(out) > 0 {
		return out
	}
	for _, netns := range slices.Sorted(maps.Keys(strays)) {
		out = append(out, suspect.Finding{Subject: recording.Subject{Kind: recording.KindNetns, Netns: netns}, Evidence: []suspect.Evidence{{
			Side: suspect.Against, Grade: suspect.Strong, Value: all[netns].Sum(), Unit: "datagrams", Source: source.Drops("NO_SOCKET"),
			Text: fmt.Sprintf("%s datagrams to %s, none of them got %d: strays", units.Count(all[netns].Sum()), units.Plural(strays[netns], "closed port"), measure.StrayDatagrams)}}})
	}
	return out
}

func closedPort(s *scene.Scene, r *recording.Recording, k measure.DropKey, rows []recording.Drop, all measure.Steps) suspect.Finding {
	mine := measure.DropSteps(rows)
	n := mine.Sum()
	sub := recording.Subject{Kind: recording.KindPort, Netns: k.Netns, Proto: "udp", Local: k.Dst}
	f := suspect.Finding{
		Subject: sub, Active: mine.Active(), Related: measure.Senders(s, r, rows),
		Harm:   suspect.Harm{Symptom: scene.DatagramsLost, Amount: n, Unit: "datagrams", Text: fmt.Sprintf("%s datagrams to %s lost: no socket holds the port", units.Count(n), k.Dst)},
		Remedy: stopSending("the sender"),
		Next:   remedy.InNetns(s, k.Netns, "tcpdump -ni any -c 5 udp dst port "+recording.Port(k.Dst)),
	}
	noPorts, seen, measured := udpCount(r, k.Netns, "NoPorts")
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: n, Unit: "datagrams", Source: source.Drops("NO_SOCKET").And(source.SNMP("Udp", "NoPorts")),
		Origin: "NO_SOCKET",
		Text:   fmt.Sprintf("%s datagrams to %s were dropped for NO_SOCKET", units.Count(n), k.Dst)}
	inAll, same := all.AgreeIn(noPorts.Sum(), seen)
	switch {
	case !measured || noPorts.Sum() == 0 && !all.WellInside(seen): // the namespace's counters were not read at that time
	case noPorts.Sum() == 0:
		e = suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Unit: "datagrams", Source: e.Source, Text: e.Text + "; UdpNoPorts did not grow"}
	case same:
		e.Grade = suspect.Decisive
		e.Text += fmt.Sprintf("; %s in its namespace in all, where UdpNoPorts grew by %s", units.Count(inAll), units.Count(noPorts.Sum()))
	default:
		e.Text += fmt.Sprintf("; %s in its namespace in all, but UdpNoPorts grew by %s", units.Count(inAll), units.Count(noPorts.Sum()))
		e.Doubt = measure.LossOf(r, "drops.kfree_skb", n)
	}
	f.Evidence = append(f.Evidence, e)
	from := ""
	if len(f.Related) > 0 {
		from = " by " + f.Related[0].Name
		f.Remedy = stopSending(f.Related[0].Name)
	} else if src := rows[0].Src; src != "" {
		from = " by " + src
		f.Related = append(f.Related, recording.Subject{Kind: recording.KindPeer, Netns: k.Netns, Remote: recording.Host(src)})
	}
	f.Text = fmt.Sprintf("%s datagrams were sent to it%s, and no socket holds it", units.Count(n), from)
	if had, ok := hadPort(s, r, k, f.Active[0].Start); ok {
		f.Related = append(f.Related, had.Subject)
		f.Text += fmt.Sprintf("; %s held it until %s", s.Name(had.Subject), had.T)
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: f.Active[0].Start.Sub(had.T).Seconds(), Unit: "seconds",
			Source: source.Of("socket closed"), Origin: "close", Text: fmt.Sprintf("%s closed its socket on that port at %s", s.Name(had.Subject), had.T)})
	}
	if icmp, ok := measure.Grew(r, k.Netns, "node_netstat_Icmp_OutDestUnreachs"); ok {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: icmp, Unit: "messages", Source: source.SNMP("Icmp", "OutDestUnreachs"), Origin: "NO_SOCKET",
			Text: fmt.Sprintf("the senders were notified %s times (ICMP unreachable is rate-limited)", units.Count(icmp))})
	}
	return f
}

func stopSending(who string) suspect.Remedy {
	return suspect.Remedy{Program: "Stop " + who + " sending there before its receiver closes the port, or let the receiver keep it open."}
}

// hadPort is the last close of a socket that held the port, before the drops
// began, within a sample of them.
func hadPort(s *scene.Scene, r *recording.Recording, k measure.DropKey, begin recording.Time) (recording.Event, bool) {
	for i := len(r.Events) - 1; i >= 0; i-- {
		e := r.Events[i]
		if e.Kind != recording.EventSocketClosed || e.Subject.Proto != "udp" || measure.Namespace(r, e.Subject.Netns) != k.Netns || e.T > begin.Add(time.Second) {
			continue
		}
		local := scene.Address(e.Subject.Local)
		if local == "" {
			local = e.Subject.Local
		}
		if local == k.Dst || measure.IsWildcard(local) && recording.Port(local) == recording.Port(k.Dst) {
			if e.Subject.Kind == "" {
				e.Subject.Kind = recording.KindSocket
			}
			return e, true
		}
	}
	return recording.Event{}, false
}

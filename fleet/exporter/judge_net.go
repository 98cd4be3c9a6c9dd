package exporter

import (
	"fmt"

	"snag/internal/units"
)

// netChecks are of packets and connections.
var netChecks = []check{
	{"netstat", []string{"overflows"}, listenOverflow},
	{"netstat", []string{"overflows", "listen drops"}, synFlood},
	{"netstat", []string{"again", "segments"}, packetLoss},
	{"netstat", []string{"udp full", "udp"}, udpFull},
	{"conntrack", []string{"entries", "entries limit"}, conntrack},
	{"softnet", []string{"backlog drops"}, softnet},
	{"netdev", []string{"packets in", "drops in", "errors in", "fifo in"}, interfaces},
	{"netdev", []string{"packets out", "drops out", "errors out"}, interfacesOut},
	{"qdisc", []string{"qdisc drops"}, qdiscs},
	{"sockstat", []string{"time-wait"}, timeWait},
	{"sockstat", []string{"orphans"}, orphans},
}

func listenOverflow(v *values) []Sign {
	n := grown(v.of("overflows", ""))
	if n < fewOverflows {
		return nil
	}
	return []Sign{{Name: "listen-overflow", Suspect: true, Value: n, Usual: v.usually("", counted, "overflows"), Unit: "connects",
		Text: units.Count(n) + " connects dropped, an accept queue was full"}}
}

// synFlood: what is dropped before the handshake is finished is not for a full accept queue.
func synFlood(v *values) []Sign {
	dropped, cookies := grown(v.of("listen drops", "")-v.of("overflows", "")), grown(v.of("cookies", ""))
	if dropped < fewSyns && cookies < fewSyns {
		return nil
	}
	s := Sign{Name: "syn-flood", Suspect: true, Value: dropped, Unit: "SYNs", Text: units.Count(dropped) + " SYNs dropped before any accept queue was full",
		Usual: v.usually("", func(x []float64) float64 { return grown(x[0] - x[1]) }, "listen drops", "overflows")}
	if cookies > dropped {
		s = Sign{Name: "syn-flood", Suspect: true, Value: cookies, Usual: v.usually("", counted, "cookies"), Unit: "SYNs",
			Text: units.Count(cookies) + " SYNs answered with cookies, their queue was full"}
	}
	return []Sign{s}
}

func packetLoss(v *values) []Sign {
	again, share := grown(v.of("again", "")), ratio([]float64{v.of("again", ""), v.of("segments", "")})
	if again < fewRetransmits || share < lossFelt {
		return nil
	}
	return []Sign{{Name: "packet-loss", Suspect: true, Value: share, Usual: v.usually("", ratio, "again", "segments"), Unit: "share",
		Text: fmt.Sprintf("%s of TCP's segments sent again, %s", units.Percent(share), units.Count(again))}}
}

func udpFull(v *values) []Sign {
	n, in := grown(v.of("udp full", "")+v.of("udp6 full", "")), grown(v.of("udp", "")+v.of("udp6", ""))
	if n < 0.5 || n < feltByItself && n < udpShare*(n+in) {
		return nil
	}
	usual := v.usually("", counted, "udp full")
	if six := v.usually("", counted, "udp6 full"); usual != nil && six != nil {
		*usual += *six
	}
	return []Sign{{Name: "udp-receive-buffer-full", Suspect: true, Value: n, Usual: usual, Unit: "datagrams",
		Text: units.Count(n) + " datagrams dropped, read too slowly"}}
}

func conntrack(v *values) []Sign {
	used, limit, dropped := v.of("entries", ""), v.of("entries limit", ""), grown(v.of("untracked", ""))
	if limit <= 0 || used < nearlyShare*limit && dropped < 0.5 {
		return nil
	}
	s := Sign{Name: "conntrack-full", Suspect: true, Value: used / limit, Unit: "share", Usual: v.usually("", func(x []float64) float64 { return x[0] / limit }, "entries"),
		Text: fmt.Sprintf("%s of %s entries taken, %s", units.Count(used), units.Count(limit), units.Percent(used/limit))}
	if dropped >= 0.5 {
		s.Text = fmt.Sprintf("%s packets dropped, %s of %s entries", units.Count(dropped), units.Count(used), units.Count(limit))
		s.Value, s.Usual, s.Unit = dropped, v.usually("", counted, "untracked"), "packets"
	}
	return []Sign{s}
}

// softnet: squeezes alone lose nothing (suspects/net/softnet_backlog.go).
func softnet(v *values) []Sign {
	n := grown(v.of("backlog drops", ""))
	if n < 0.5 {
		return nil
	}
	text := units.Count(n) + " packets dropped, a CPU's backlog was full"
	if squeezed := grown(v.of("squeezes", "")); squeezed >= 0.5 {
		text = fmt.Sprintf("%s packets dropped, backlog full; squeezed %s times", units.Count(n), units.Count(squeezed))
	}
	return []Sign{{Name: "softnet-backlog", Suspect: true, Value: n, Usual: v.usually("", counted, "backlog drops"), Unit: "packets", Text: text}}
}

func interfaces(v *values) (out []Sign) {
	for _, d := range v.devices("packets in") {
		if n := grown(v.of("fifo in", d)); n >= 0.5 {
			out = append(out, Sign{Name: "nic-ring-overflow", Suspect: true, Subject: d, Value: n, Usual: v.usually(d, counted, "fifo in"), Unit: "packets",
				Text: fmt.Sprintf("%s dropped %s packets, its ring was full", d, units.Count(n))})
		}
		// What nobody on the host takes is counted with them.
		out = append(out, v.lost("nic-drops", "dropped", "received", d, "drops in", "packets in")...)
		out = append(out, v.lost("nic-errors", "damaged", "received", d, "errors in", "packets in")...)
	}
	return out
}

func interfacesOut(v *values) (out []Sign) {
	for _, d := range v.devices("packets out") {
		out = append(out, v.lost("nic-drops", "dropped", "to send", d, "drops out", "packets out")...)
		out = append(out, v.lost("nic-errors", "failed", "to send", d, "errors out", "packets out")...)
	}
	return out
}

// lost is the sign that an interface lost so many of its packets that it is felt.
func (v *values) lost(name, what, which, device, lost, packets string) []Sign {
	n := grown(v.of(lost, device))
	all := n + grown(v.of(packets, device))
	if n < fewRetransmits || n < lossFelt*all {
		return nil
	}
	return []Sign{{Name: name, Subject: device, Value: n, Usual: v.usually(device, counted, lost), Unit: "packets",
		Text: fmt.Sprintf("%s: %s of %s packets %s %s", device, units.Count(n), units.Count(all), which, what)}}
}

func qdiscs(v *values) (out []Sign) {
	for _, d := range v.devices("qdisc drops") {
		if n := grown(v.of("qdisc drops", d)); n >= 0.5 {
			out = append(out, Sign{Name: "qdisc-drop", Suspect: true, Subject: d, Value: n, Usual: v.usually(d, counted, "qdisc drops"), Unit: "packets",
				Text: fmt.Sprintf("the queue of %s dropped %s packets", d, units.Count(n))})
		}
	}
	return out
}

// timeWait: ports run out only towards one server, which sockstat does not show.
func timeWait(v *values) []Sign {
	n := v.of("time-wait", "")
	if n < portsLow*portRange {
		return nil
	}
	return []Sign{{Name: "time-wait", Value: n, Usual: v.usually("", itself, "time-wait"), Unit: "connections",
		Text: units.Count(n) + " in TIME-WAIT; to one server, ports run out"}}
}

func orphans(v *values) []Sign {
	n := v.of("orphans", "")
	if n < fewOrphans {
		return nil
	}
	return []Sign{{Name: "orphans", Value: n, Usual: v.usually("", itself, "orphans"), Unit: "connections",
		Text: units.Count(n) + " closed connections still hold memory"}}
}

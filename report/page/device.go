package page

import (
	"net/netip"
	"strconv"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
)

// device draws the interface that a socket's packets cross, "" where the scene
// does not tell.
func (p *pathBuilder) device(k *scene.Socket, lane int) string {
	for _, dev := range p.s.Neighbours(k.ID, scene.Crosses) {
		if n := p.s.Node(dev); n != nil {
			return p.deviceNode(n.Subject.Netns, n.Subject.Device, deviceLane(lane))
		}
	}
	return ""
}

func deviceLane(lane int) int {
	if lane > LaneProcess {
		return LaneDeviceOut
	}
	return LaneDeviceIn
}

// deviceTowards draws the interface whose network holds an address: a listener
// has none of its own, its callers come by theirs.
func (p *pathBuilder) deviceTowards(netns uint64, address string, lane int) string {
	to, err := netip.ParseAddr(address)
	if err != nil {
		return ""
	}
	for _, n := range p.r.Netns {
		if n.ID != netns {
			continue
		}
		for _, a := range n.Addrs {
			dev, text, _ := strings.Cut(a, " ")
			if prefix, err := netip.ParsePrefix(text); err == nil && prefix.Contains(to) {
				return p.deviceNode(netns, dev, deviceLane(lane))
			}
		}
	}
	return ""
}

// deviceNode is an interface with its qdiscs.
func (p *pathBuilder) deviceNode(netns uint64, device string, lane int) string {
	sub := recording.Subject{Kind: recording.KindInterface, Netns: netns, Device: device}
	n := Node{ID: string(scene.IDOf(sub)), Lane: lane, Kind: "interface", Title: device, Marks: p.marks[scene.IDOf(sub)]}
	var kinds []string
	for _, q := range p.s.Qdiscs {
		if q.Row.Netns == netns && q.Row.Device == device && q.Row.Kind != "noqueue" {
			kinds = append(kinds, q.Row.Kind)
		}
	}
	if len(kinds) > 0 {
		n.Note = "qdisc " + strings.Join(kinds[:min(2, len(kinds))], ", ")
		if len(kinds) > 2 {
			n.Note += " and " + strconv.Itoa(len(kinds)-2) + " more"
		}
	}
	pairs := []string{"device", device}
	if netns != 0 && netns != p.r.Manifest.Netns {
		pairs = append(pairs, "netns", strconv.FormatUint(netns, 10))
	}
	dir := "receive"
	if lane == LaneDeviceOut {
		dir = "transmit"
	}
	seconds := max(p.r.Length().Seconds(), 1)
	rate := func(label, name, unit string) {
		if v, ok := p.grew(name, pairs...); ok {
			value := units.Rate(v / seconds)
			if unit == "B" {
				value = units.Bytes(v/seconds) + "/s"
			}
			n.Numbers = append(n.Numbers, Number{label, value, false})
		}
	}
	rate("packets", "node_network_"+dir+"_packets_total", "")
	rate("bytes", "node_network_"+dir+"_bytes_total", "B")
	for _, lost := range []struct{ label, name string }{
		{"qdisc drops", "node_qdisc_drops_total"}, {"drops", "node_network_" + dir + "_drop_total"}, {"errors", "node_network_" + dir + "_errs_total"},
	} {
		if v, ok := p.grew(lost.name, pairs...); ok && v > 0 {
			n.Numbers = append(n.Numbers, Number{lost.label, units.Count(v), true})
		}
	}
	n.Numbers = n.Numbers[:min(len(n.Numbers), maxNumbers)]
	return p.node(n)
}

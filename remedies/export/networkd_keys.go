package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"snag/remedies/knob"
	"snag/remedies/plan"
)

// key is a line of systemd's and the first version that knows it.
type key struct {
	name  string
	since int
}

// linkKeys are the keys of [Link], by kind and name (systemd.link(5)).
var linkKeys = map[string]key{
	"ring rx": {"RxBufferSize", 244}, "ring tx": {"TxBufferSize", 244},
	"ring rx-mini": {"RxMiniBufferSize", 248}, "ring rx-jumbo": {"RxJumboBufferSize", 248},
	"channels rx": {"RxChannels", 239}, "channels tx": {"TxChannels", 239},
	"channels other": {"OtherChannels", 239}, "channels combined": {"CombinedChannels", 239},
	"coalesce adaptive-rx": {"UseAdaptiveRxCoalesce", 250}, "coalesce adaptive-tx": {"UseAdaptiveTxCoalesce", 250},
	"coalesce rx-usecs": {"RxCoalesceSec", 250}, "coalesce tx-usecs": {"TxCoalesceSec", 250},
	"coalesce rx-usecs-irq": {"RxCoalesceIrqSec", 250}, "coalesce tx-usecs-irq": {"TxCoalesceIrqSec", 250},
	"coalesce rx-usecs-low": {"RxCoalesceLowSec", 250}, "coalesce tx-usecs-low": {"TxCoalesceLowSec", 250},
	"coalesce rx-usecs-high": {"RxCoalesceHighSec", 250}, "coalesce tx-usecs-high": {"TxCoalesceHighSec", 250},
	"coalesce rx-frames": {"RxMaxCoalescedFrames", 250}, "coalesce tx-frames": {"TxMaxCoalescedFrames", 250},
	"coalesce rx-frames-irq": {"RxMaxCoalescedIrqFrames", 250}, "coalesce tx-frames-irq": {"TxMaxCoalescedIrqFrames", 250},
	"coalesce rx-frames-low": {"RxMaxCoalescedLowFrames", 250}, "coalesce tx-frames-low": {"TxMaxCoalescedLowFrames", 250},
	"coalesce rx-frames-high": {"RxMaxCoalescedHighFrames", 250}, "coalesce tx-frames-high": {"TxMaxCoalescedHighFrames", 250},
	"coalesce pkt-rate-low": {"CoalescePacketRateLow", 250}, "coalesce pkt-rate-high": {"CoalescePacketRateHigh", 250},
	"coalesce sample-interval": {"CoalescePacketRateSampleIntervalSec", 250}, "coalesce stats-block-usecs": {"StatisticsBlockCoalesceSec", 250},
	"feature rx-checksum":             {"ReceiveChecksumOffload", 245},
	"feature tx-generic-segmentation": {"GenericSegmentationOffload", 232},
	"feature tx-tcp-segmentation":     {"TCPSegmentationOffload", 232}, "feature tx-tcp6-segmentation": {"TCP6SegmentationOffload", 235},
	"feature rx-gro": {"GenericReceiveOffload", 232}, "feature rx-gro-hw": {"GenericReceiveOffloadHardware", 250},
	"feature rx-lro": {"LargeReceiveOffload", 232}, "feature rx-ntuple-filter": {"NTupleFilter", 250},
	"feature rx-vlan-hw-parse": {"ReceiveVLANCTAGHardwareAcceleration", 250}, "feature tx-vlan-hw-insert": {"TransmitVLANCTAGHardwareAcceleration", 250},
	"txqueuelen ": {"TransmitQueueLength", 248},
}

// linkKey is a change as a line of [Link].
func linkKey(c plan.Change) (keyed, bool) {
	name := c.Target.Name
	if c.Target.Kind == "feature" {
		name = knob.FeatureName(name)
	}
	k, ok := linkKeys[c.Target.Kind+" "+name]
	if !ok {
		return keyed{}, false
	}
	value := c.Then
	switch {
	case strings.HasSuffix(c.Target.Name, "-usecs") || strings.Contains(c.Target.Name, "-usecs-"):
		value += "us"
	case c.Target.Name == "sample-interval":
		value += "s" // ethtool(8): seconds
	case value == "on":
		value = "yes"
	case value == "off":
		value = "no"
	}
	return keyed{change: c, lines: []string{k.name + "=" + value}, since: k.since}, true
}

// qdiscSection are the sections of queue disciplines and the keys of their options
// (systemd.network(5)).
type qdiscSection struct {
	section string
	since   int
	keys    map[string]string
}

var qdiscSections = map[string]qdiscSection{
	"fq":         {"FairQueueing", 246, map[string]string{"limit": "PacketLimit", "flow_limit": "FlowLimit", "quantum": "QuantumBytes", "initial_quantum": "InitialQuantumBytes", "maxrate": "MaximumRate", "buckets": "Buckets", "orphan_mask": "OrphanMask", "pacing": "Pacing", "ce_threshold": "CEThresholdSec"}},
	"fq_codel":   {"FairQueueingControlledDelay", 246, map[string]string{"limit": "PacketLimit", "flows": "Flows", "target": "TargetSec", "interval": "IntervalSec", "quantum": "QuantumBytes", "memory_limit": "MemoryLimitBytes", "ecn": "ECN", "ce_threshold": "CEThresholdSec"}},
	"pfifo":      {"PFIFO", 246, map[string]string{"limit": "PacketLimit"}},
	"bfifo":      {"BFIFO", 246, map[string]string{"limit": "LimitBytes"}},
	"pfifo_fast": {"PFIFOFast", 246, nil},
}

// networkSection is a change as a section of a .network file.
func (n in) networkSection(c plan.Change) (device string, k keyed, why string) {
	switch c.Target.Kind {
	case "qdisc":
		return n.qdiscNetwork(c)
	case "route":
		return n.routeNetwork(c)
	case "sysctl":
		return "", k, "it is a sysctl: --as sysctl.d holds it"
	}
	return "", k, "neither a .link nor a .network file has a key for a " + strings.TrimSpace(c.Target.Kind+" "+c.Target.Name) + ": --as unit holds it"
}

func (n in) qdiscNetwork(c plan.Change) (device string, k keyed, why string) {
	t := c.Target
	if parentOf(t) != "root" {
		return "", k, "a .network file can't name the queues of an mq, since the kernel chooses its handle: --as unit sets it"
	}
	words, why := n.wholeQdisc(c)
	if why != "" {
		return "", k, why
	}
	if len(words) == 0 {
		return "", k, "it is the kernel's default: at a boot there is nothing to be done"
	}
	s, ok := qdiscSections[words[0]]
	if !ok {
		return "", k, "snag writes no .network section for " + words[0] + ": --as unit holds it"
	}
	k = keyed{change: c, section: s.section, lines: []string{"Parent=root"}, since: s.since}
	for i := 1; i < len(words); i++ {
		name, value := words[i], "yes"
		switch {
		case slices.Contains(toggles, name):
			if on, off := strings.CutPrefix(name, "no"); off {
				name, value = on, "no"
			}
		case i+1 < len(words):
			i++
			value = words[i]
		}
		key, ok := s.keys[name]
		if !ok {
			return "", k, fmt.Sprintf("[%s] has no key for %s %s: --as unit holds it", s.section, name, value)
		}
		if digits := strings.TrimSuffix(value, "us"); strings.HasSuffix(key, "Sec") && strings.Trim(digits, "0123456789") == "" {
			value = digits + "us" // tc(8): a bare time is in microseconds
		}
		if key == "MaximumRate" {
			value = strings.TrimSuffix(value, "bit") // bits per second
		}
		k.lines = append(k.lines, key+"="+unitValue(value))
	}
	return t.Device, k, ""
}

// routeKeys are the metrics in [Route].
var routeKeys = map[string]key{
	"quickack": {"QuickAck", 237}, "mtu": {"MTUBytes", 239}, "initcwnd": {"InitialCongestionWindow", 237},
	"initrwnd": {"InitialAdvertisedReceiveWindow", 237}, "advmss": {"TCPAdvertisedMaximumSegmentSize", 248},
	"rto_min": {"TCPRetransmissionTimeoutSec", 255},
}

// routeNetwork is [Route] with all that the route has: networkd makes it anew.
func (n in) routeNetwork(c plan.Change) (device string, k keyed, why string) {
	route, ok := n.facts.Routes[c.Target.String()]
	switch {
	case !ok:
		return "", k, "what else the route has the plan does not say: export it on the host itself"
	case route.Protocol == "kernel":
		return "", k, "the kernel makes this route with the address: --as unit changes it afterwards"
	case route.Protocol == "dhcp" || route.Protocol == "ra":
		return "", k, "the route comes by " + route.Protocol + ", and would be there twice: --as unit changes it afterwards"
	}
	k = keyed{change: c, section: "Route", since: 237}
	add := func(name, value string) {
		if value != "" {
			k.lines = append(k.lines, name+"="+value)
		}
	}
	if c.Target.Route != "default" {
		add("Destination", c.Target.Route)
	}
	add("Gateway", route.Gateway)
	add("PreferredSource", route.Source)
	if route.Metric != 0 {
		add("Metric", strconv.Itoa(route.Metric))
	}
	for _, name := range routeMetrics {
		value := route.Metrics[name]
		if name == c.Target.Name {
			value = c.Then
		}
		if value == "" || value == "0" {
			continue
		}
		switch name {
		case "quickack":
			value = "yes"
		case "rto_min":
			value += "ms"
		}
		add(routeKeys[name].name, value)
		k.since = max(k.since, routeKeys[name].since)
	}
	return route.Device, k, ""
}

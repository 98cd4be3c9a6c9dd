package audit

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/suspects/suspect"
)

// packetsEach second that a card received and sent; false where they were not counted.
func (h host) packetsEach(device string) (float64, bool) {
	seconds := h.r.Length().Seconds()
	in, ok := h.grew("node_network_receive_packets_total", "device", device)
	out, ok2 := h.grew("node_network_transmit_packets_total", "device", device)
	return (in + out) / max(seconds, 1), ok && ok2 && seconds > 0
}

const (
	// manyPackets a second: an interrupt and a walk up the stack for each costs a tenth
	// of a CPU and more.
	manyPackets = 50_000
	// lateUsecs is how long a card may hold a packet of media back, µs.
	lateUsecs = 500
)

// coalescing: too little of it interrupts for each packet, too much delays media.
func coalescing(h host) (out []Risk, covered string) {
	for _, n := range h.lastNICs() {
		c := n.Coalesce
		if c == nil || c.RxUsecs == nil {
			continue
		}
		rate, ok := h.packetsEach(n.Device)
		adaptive := c.AdaptiveRx != nil && *c.AdaptiveRx
		s := suspect.Setting{Kind: "coalesce", Name: "rx-usecs", At: recording.Subject{Device: n.Device}, Value: "50", Risk: "up to 50 µs more for each packet"}
		source := "Documentation/networking/ethtool-netlink.rst (COALESCE_SET)"
		switch {
		case !adaptive && *c.RxUsecs > lateUsecs:
			s.Why = fmt.Sprintf("the card holds packets back for up to %d µs: media come in bursts", *c.RxUsecs)
			s.Risk = "more interrupts"
			out = append(out, Risk{Setting: s, Source: source, Shows: "gaps between packets of a capture that are multiples of that time: snag find names none"})
		case !adaptive && *c.RxUsecs < 10 && ok && rate >= manyPackets:
			s.Why = fmt.Sprintf("rx-usecs is %d, and %s packets per second pass: nearly each interrupts", *c.RxUsecs, units.Count(rate))
			out = append(out, Risk{Setting: s, Source: source, Shows: "as many interrupts as packets (/proc/interrupts): snag find names it interrupt-coalescing-low"})
		case adaptive:
			covered = fmt.Sprintf("%s adapts it itself", n.Device)
		default:
			covered = fmt.Sprintf("%s waits %d µs, at %s packets per second", n.Device, *c.RxUsecs, units.Count(rate))
		}
	}
	return out, covered
}

// offloads: without GRO each packet walks up the stack by itself.
func offloads(h host) (out []Risk, covered string) {
	for _, n := range h.lastNICs() {
		on, known := n.Features["rx-gro"]
		if !known {
			continue
		}
		rate, ok := h.packetsEach(n.Device)
		switch {
		case on:
			covered = fmt.Sprintf("%s has receive offload (rx-gro) on", n.Device)
		case !ok || rate < manyPackets:
			covered = fmt.Sprintf("rx-gro of %s is off, and %s packets per second cost little without it", n.Device, units.Count(rate))
		default:
			s := suspect.Setting{Kind: "feature", Name: "rx-gro", Value: "on", At: recording.Subject{Device: n.Device}, Risk: "a program that looks at each packet (a capture, a bridge) sees several as one",
				Why: fmt.Sprintf("it is off, and %s packets per second pass", units.Count(rate))}
			out = append(out, Risk{Setting: s, Source: "Documentation/networking/segmentation-offloads.rst (Generic Receive Offload)", Shows: "time in napi_gro_receive and ip_rcv in a profile: snag find names it kernel-hot-path"})
		}
	}
	return out, covered
}

// steering: cards below 10 Gbit/s are one CPU's work, and one queue is enough for them.
func steering(h host) string {
	text := ""
	for _, n := range h.lastNICs() {
		if n.Speed != nil && *n.Speed > 0 && *n.Speed < fast {
			text = fmt.Sprintf("%s has %s, which one CPU can serve", n.Device, mbit(float64(*n.Speed)*1e6/8))
		}
	}
	return text
}

package net

import (
	"fmt"
	"strconv"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var interruptCoalescingLow = &suspect.Suspect{
	Name:    "interrupt-coalescing-low",
	Fixture: true,
	Title:   "the card interrupts for nearly every packet",
	About: "Without coalescing a card interrupts as soon as a packet came. At a few packets per second that is right; at tens of thousands the CPU spends its time on entering and leaving interrupts. " +
		"Virtual cards have no coalescing worth the name, and raising it adds its delay to every packet.",
	Needs: []suspect.Need{
		{Measure: "nics.interrupts", Must: true, Why: "how often the card interrupts, and which CPU"},
		{Measure: "host.links", Must: true, Why: "how many packets came and went"},
		{Measure: "host.cpu", Must: true, Why: "time in interrupts and softirqs"},
		{Measure: "nics.settings", Must: false, Why: "rx-usecs, rx-frames, adaptive-rx"},
		{Measure: "nics.queues", Must: false, Why: "which interrupts are the card's"},
	},
	For: []string{
		"strong: 0.5 interrupts a packet and more at 10,000 interrupts per second and more (healthy under load: under 0.1)",
		"strong: the CPU that takes them is in interrupts and softirqs half of the time and more",
		"strong: rx-usecs under 10 without adaptive-rx",
	},
	Against: []string{
		"decisive: few interrupts per second: one for each packet is what a quiet host wants",
		"decisive: coalescing is on, and many packets come with each interrupt",
		"weak: raising it adds latency: for a quarter of a millisecond",
	},
	LeadsTo: []suspect.Lead{{To: scene.CPUBurn, Lag: 5 * time.Second}, {To: "softirq-on-one-cpu", Lag: 5 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}},
	Remedy: suspect.Remedy{
		Now:         "ethtool -C DEVICE adaptive-rx on",
		Permanently: "UseAdaptiveRxCoalesce=yes or RxCoalesceSec=50us in the .link file. Packets wait that much longer.",
	},
	Verified: "there are fewer interrupts for each packet",
	Next:     "ethtool -c DEVICE; grep DEVICE /proc/interrupts; mpstat -P ALL 1 5",
	Weigh:    weighInterruptCoalescingLow,
}

const (
	// interruptsEach packet at which coalescing does nothing.
	interruptsEach = 0.5
	// manyInterrupts a second: 1 µs and more each with the softirq behind it, so
	// that 10,000 are a hundredth of a CPU at least. Below it nobody is harmed.
	manyInterrupts = 10_000
	// burnShare of a CPU in interrupts and softirqs.
	burnShare = 0.5
	// lowUsecs: less than this waits for no second packet at 10,000 to 100,000 a
	// second.
	lowUsecs = 10
)

func weighInterruptCoalescingLow(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	seconds := s.Window.Length(s.Window.End).Seconds()
	var out []suspect.Finding
	for _, n := range hardwareNICs(r) {
		interrupts, cpu, on, span := interruptsOf(r, n)
		if span <= 0 {
			continue
		}
		sub := recording.Subject{Kind: recording.KindInterface, Netns: n.Netns, Device: n.Device}
		packets := arrivedAt(r, []recording.Subject{sub})
		if v, ok := measure.Grew(r, n.Netns, "node_network_transmit_packets_total", "device", n.Device); ok {
			packets += v // their completions interrupt as well
		}
		packets *= span / max(seconds, span) // both over the same time
		if packets == 0 || interrupts == 0 {
			continue
		}
		rate, each := interrupts/span, interrupts/packets
		f := suspect.Finding{Subject: sub, Next: remedy.InNetns(s, n.Netns, "ethtool -c "+n.Device) + "; grep " + n.Device + " /proc/interrupts"}
		switch {
		case rate < manyInterrupts && each >= interruptsEach && packets >= 1000:
			f.Evidence = []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: rate, Unit: "interrupts/s", Source: source.Of("/proc/interrupts", source.Interrupts), Origin: "interrupts",
				Text: fmt.Sprintf("%.2f interrupts a packet, but %s per second only: a quiet card answers at once", each, units.Count(rate))}}
		case rate >= manyInterrupts && each < interruptsEach:
			f.Evidence = []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: each, Unit: "interrupts a packet", Source: source.Of("/proc/interrupts", source.Interrupts), Origin: "interrupts",
				Text: fmt.Sprintf("%s interrupts per second for %s packets, %.2f each: many packets come with one", units.Count(rate), units.Count(packets/span), each)}}
		case rate >= manyInterrupts:
			f = lowCoalescing(s, r, n, f, rate, each, cpu, on/max(1, interrupts))
		default:
			continue
		}
		out = append(out, f)
	}
	return out
}

// interruptsOf is how often the card interrupted, the CPU that took most of it
// with its part, and for how many seconds that was counted.
func interruptsOf(r *recording.Recording, n recording.NIC) (sum float64, cpu string, most, span float64) {
	mine := map[string]bool{}
	for _, i := range r.IRQs {
		if i.Device == n.Device && measure.Namespace(r, i.Netns) == measure.Namespace(r, n.Netns) {
			mine[strconv.Itoa(i.Number)] = true
		}
	}
	by := map[string]float64{}
	for _, s := range r.Select("node_interrupts_total") {
		if !mine[s.Labels["type"]] {
			continue
		}
		v, ok := s.Increase()
		if !ok {
			continue
		}
		sum += v
		by[s.Labels["cpu"]] += v
		span = max(span, s.Points[len(s.Points)-1].T.Sub(s.Points[0].T).Seconds())
	}
	for c, v := range by {
		if v > most || v == most && c < cpu {
			cpu, most = c, v
		}
	}
	return sum, cpu, most, span
}

func lowCoalescing(s *scene.Scene, r *recording.Recording, n recording.NIC, f suspect.Finding, rate, each float64, cpu string, part float64) suspect.Finding {
	f.Text = fmt.Sprintf("interrupts %s times per second, %.2f times a packet, %.0f %% of it on CPU %s", units.Count(rate), each, 100*part, cpu)
	f.Evidence = []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: each, Unit: "interrupts a packet", Source: source.Of("/proc/interrupts", source.Interrupts).And(source.Of("ip -s link")), Origin: "interrupts",
		Text: fmt.Sprintf("%s interrupts per second, %.2f for each packet", units.Count(rate), each)}}
	used, seconds := 0.0, 0.0
	for _, mode := range []string{"irq", "softirq"} {
		for _, series := range r.Select("node_cpu_seconds_total", "cpu", cpu, "mode", mode) {
			if v, ok := series.Increase(); ok {
				used += v
				seconds = series.Points[len(series.Points)-1].T.Sub(series.Points[0].T).Seconds()
			}
		}
	}
	if seconds > 0 {
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: used / seconds, Unit: "share", Source: source.CPU("/proc/stat, irq and softirq of cpu"+cpu, cpu, "irq", "softirq"), Origin: "cpu time",
			Text: fmt.Sprintf("CPU %s spends %.0f %% of its time on interrupts and softirqs", cpu, 100*used/seconds)}
		if used < burnShare*seconds {
			e.Side = suspect.Against
		} else {
			f.Harm = suspect.Harm{Symptom: scene.CPUBurn, Amount: used, Of: seconds, Unit: "s", Text: fmt.Sprintf("%.0f %% of CPU %s goes to interrupts", 100*used/seconds, cpu)}
		}
		f.Evidence = append(f.Evidence, e)
	}
	c := n.Coalesce
	switch {
	case c == nil || c.RxUsecs == nil:
	case c.AdaptiveRx != nil && *c.AdaptiveRx:
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Source: source.Of("ethtool -c " + n.Device), Origin: "coalescing", Text: "adaptive-rx is on: the driver chose this rate"})
	case *c.RxUsecs < lowUsecs:
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(*c.RxUsecs), Unit: "µs", Source: source.Of("ethtool -c " + n.Device), Origin: "coalescing",
			Text: fmt.Sprintf("%s waits %d µs (rx-usecs)%s before it interrupts", n.Device, *c.RxUsecs, orFrames(c.RxFrames))})
	default:
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Weak, Value: float64(*c.RxUsecs), Unit: "µs", Source: source.Of("ethtool -c " + n.Device), Origin: "coalescing",
			Text: fmt.Sprintf("%s waits %d µs (rx-usecs) before it interrupts", n.Device, *c.RxUsecs)})
	}
	f.Settings = coalesceSettings(n, rate, each)
	f.Remedy = suspect.Remedy{Now: remedy.Now(s, r, f.Settings), Permanently: fmt.Sprintf("UseAdaptiveRxCoalesce=yes or RxCoalesceSec=%dus in the .link file of %s. Packets wait that much longer.", coalescedUsecs, n.Device)}
	return f
}

func orFrames(n *int) string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf(" or %d frames", *n)
}

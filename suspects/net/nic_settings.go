package net

import (
	"fmt"

	"snag/internal/cpus"
	"snag/internal/units"
	"snag/recording"
	"snag/suspects/measure"
	"snag/suspects/suspect"
)

const flaps = "the driver may take the link down for a second or two"

// ringSettings is the longest ring that the driver takes: a ring of half the length
// has been seen to run over, and how much a burst is above it no counter tells.
func ringSettings(n recording.NIC, lost, rx, most float64) []suspect.Setting {
	return []suspect.Setting{{Kind: "ring", Name: "rx", AtLeast: true, At: suspect.OnDevice(n.Netns, n.Device), Value: fmt.Sprintf("%.0f", most),
		Why:  fmt.Sprintf("the card dropped %s packets with a ring of %s descriptors; %s are the driver's most", units.Count(lost), units.Count(rx), units.Count(most)),
		Risk: fmt.Sprintf("%s; about %s of memory for each queue", flaps, units.Bytes(2048*most))}}
}

// coalescedUsecs is how long a card waits where it can't adapt: 20,000 interrupts a
// second and queue at the most.
const coalescedUsecs = 50

func coalesceSettings(n recording.NIC, rate, each float64) []suspect.Setting {
	s := suspect.Setting{Kind: "coalesce", Name: "rx-usecs", At: suspect.OnDevice(n.Netns, n.Device), Value: fmt.Sprint(coalescedUsecs),
		Why:  fmt.Sprintf("%s interrupts per second, %.2f for each packet; %d µs between them are %s per second and queue", units.Count(rate), each, coalescedUsecs, units.Count(1e6/coalescedUsecs)),
		Risk: fmt.Sprintf("packets wait up to %d µs longer", coalescedUsecs)}
	if c := n.Coalesce; c != nil && c.AdaptiveRx != nil {
		s.Name, s.Value = "adaptive-rx", "on"
		s.Risk = "packets wait some ten µs longer under load"
	}
	if n.Coalesce == nil {
		return nil
	}
	return []suspect.Setting{s}
}

// spreadSettings gives the work of one CPU to more: queues where the card has them,
// its interrupts apart, else RPS with RFS (Documentation/networking/scaling.rst).
func spreadSettings(r *recording.Recording, cpu int, d recording.Subject, irqs []countedIRQ) []suspect.Setting {
	host := r.Manifest.CPUs
	if nic := nicOf(r, d.Netns, d.Device); nic != nil && nic.Channels != nil {
		if c := nic.Channels; c.Combined != nil && c.CombinedMax != nil {
			if n := min(*c.CombinedMax, host); n > *c.Combined {
				return []suspect.Setting{{Kind: "channels", Name: "combined", AtLeast: true, At: suspect.OnDevice(d.Netns, d.Device), Value: fmt.Sprint(n),
					Why:  fmt.Sprintf("CPU %d does all the network's work; the card has %d queues of at most %d, and the host %d CPUs", cpu, *c.Combined, *c.CombinedMax, host),
					Risk: flaps + "; its rings and masks are made again"}}
			}
		}
	}
	var mine []countedIRQ
	for _, i := range irqs {
		if i.row.Device == d.Device {
			mine = append(mine, i)
		}
	}
	if len(mine) < 2 || host < 2 {
		return rpsSettings(r, cpu, d)
	}
	var set []suspect.Setting
	near := steerTo(r, -1, d)
	for at, i := range mine {
		set = append(set, suspect.Setting{Kind: "irq", IRQ: i.row.Number, Value: cpus.Mask([]int{near[at%len(near)]}, host),
			Why:   fmt.Sprintf("%s (%s) came %s times to CPU %d, as the card's others: one CPU each", i.row.Name, i.row.Device, units.Count(i.n), cpu),
			Risk:  "a program that was bound to that CPU shares it with the interrupt",
			Needs: "irqbalance off, or set to leave it: it writes the mask over", Group: "irq"})
	}
	return set
}

// rpsSettings hand the packets of each receive queue to the other CPUs, and each flow
// to the one its reader runs on.
func rpsSettings(r *recording.Recording, cpu int, d recording.Subject) []suspect.Setting {
	host := r.Manifest.CPUs
	var queues []int
	for _, q := range lastQueues(r) {
		if q.Dir == "rx" && q.Device == d.Device && measure.Namespace(r, q.Netns) == measure.Namespace(r, d.Netns) {
			queues = append(queues, q.Index)
		}
	}
	if len(queues) == 0 {
		queues = []int{0}
	}
	if host < 2 || len(queues) >= host {
		return rpsOff(r, d, len(queues))
	}
	target := steerTo(r, cpu, d)
	each := int(powerOfTwo(float64(rfsFlows / len(queues))))
	set := []suspect.Setting{{Kind: "sysctl", Name: "net.core.rps_sock_flow_entries", AtLeast: true, Value: fmt.Sprint(rfsFlows), Group: "rfs",
		Why: fmt.Sprintf("flows go to the CPU that their reader runs on; %s entries are what a host of moderate load takes (scaling.rst)", units.Count(rfsFlows)), Risk: units.Bytes(4*rfsFlows) + " of memory"}}
	for _, q := range queues {
		set = append(set,
			suspect.Setting{Kind: "rps", At: suspect.OnDevice(d.Netns, d.Device), Queue: &q, Value: cpus.Mask(target, host), Group: "rfs",
				Why:  fmt.Sprintf("%s for %d CPUs: what it gets goes to %s", units.Plural(len(queues), "receive queue"), host, units.Plural(len(target), "CPU")),
				Risk: "an interrupt between CPUs for each batch; on CPUs that are busy already it makes the loss worse"},
			suspect.Setting{Kind: "rfs", AtLeast: true, At: suspect.OnDevice(d.Netns, d.Device), Queue: &q, Value: fmt.Sprint(each), Group: "rfs",
				Why: fmt.Sprintf("%s entries over %s", units.Count(rfsFlows), units.Plural(len(queues), "queue"))})
	}
	return set
}

// rpsOff: with a queue for each CPU the card spreads already (scaling.rst, RPS: Suggested
// Configuration), and a mask of one CPU undoes it.
func rpsOff(r *recording.Recording, d recording.Subject, queues int) (set []suspect.Setting) {
	for _, q := range lastQueues(r) {
		if q.Dir != "rx" || q.Device != d.Device || measure.Namespace(r, q.Netns) != measure.Namespace(r, d.Netns) || q.RPS == nil || len(listOfCPUs(*q.RPS)) != 1 {
			continue
		}
		set = append(set, suspect.Setting{Kind: "rps", At: suspect.OnDevice(d.Netns, d.Device), Queue: &q.Index, Value: "0", Group: "rps",
			Why:  fmt.Sprintf("%s for %d CPUs, and RPS hands all packets of this one to CPU %s", units.Plural(queues, "receive queue"), r.Manifest.CPUs, *q.RPS),
			Risk: "a queue's packets stay on the CPU that its interrupt goes to"})
	}
	return set
}

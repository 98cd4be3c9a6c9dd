package suspects

import (
	"fmt"
	"time"

	"snag/recording"
	"snag/scene"
)

var nicRingOverflow = &Suspect{
	Name:    "nic-ring-overflow",
	Fixture: true,
	Title:   "the network card's receive ring overflows",
	About: "The card writes what it receives into a ring of buffers that the CPU empties. When a burst fills the ring before the CPU comes, the card drops, and only the driver's own statistics tell so: neither the sockets nor the IP counters move. " +
		"A ring that is short and loses nothing is none of anybody's business.",
	Needs: []Need{
		{"nics.statistics", true, "the driver's count of missed packets"},
		{"nics.settings", true, "the driver, the ring's length and its maximum"},
		{"host.links", false, "how many packets came in"},
		{"nics.interrupts", false, "whether one CPU alone empties it"},
	},
	For: []string{
		"strong: the driver's count of packets without a free descriptor grew (healthy: 0)",
		"strong: the ring is shorter than the card allows",
	},
	Against: []string{
		"decisive: a short ring, and no packet missed: nothing was lost",
		"strong: the ring is as long as the card allows: the CPU comes too late",
		"trap: rx_no_buffer_count of igb and e1000e: the packet waited in the card's memory; rx_dropped counts unwanted protocols too",
	},
	LeadsTo: []Lead{{"packet-loss", 2 * time.Second}, {scene.DatagramsLost, 2 * time.Second}, {scene.StreamFreeze, 5 * time.Second}, {scene.RequestLatency, 5 * time.Second}, {scene.FramesSkipped, 5 * time.Second}},
	Remedy: Remedy{
		Now:         "ethtool -G DEVICE rx DESCRIPTORS",
		Permanently: "RxBufferSize= in the .link file. The link may go down for a second or two when it is set.",
	},
	Verified: "the driver's count stands still",
	Next:     "ethtool -S DEVICE | grep -iE 'miss|no_dma|out_of_buffer|discard|fifo'; ethtool -g DEVICE",
	Weigh:    weighNicRingOverflow,
}

func weighNicRingOverflow(s *scene.Scene, r *recording.Recording) []Finding {
	var out []Finding
	for _, n := range hardwareNICs(r) {
		all := nicSeries(r, n.Netns, n.Device)
		t, missed, ok := grownStatistic(all, n.Driver, ringStatistics)
		f := Finding{Subject: recording.Subject{Kind: recording.KindInterface, Netns: n.Netns, Device: n.Device},
			Active: missed.active(), Next: inNetns(s, n.Netns, fmt.Sprintf("ethtool -S %s; ethtool -g %s", n.Device, n.Device))}
		rx, most, sized := ringSize(n)
		lost := missed.sum()
		switch {
		case !ok || lost == 0 && !sized:
			continue
		case lost == 0:
			f.Evidence = []Evidence{{Side: Against, Grade: Decisive, Value: 0, Unit: "packets", Source: "ethtool -S " + n.Device, Origin: "driver",
				Text: fmt.Sprintf("%s of %s stood still: its ring of %s (of at most %s) lost nothing", t.name, n.Device, count(rx), count(most))}}
			out = append(out, f)
			continue
		}
		got := arrivedAt(r, []recording.Subject{f.Subject})
		f.Evidence = ringEvidence(n, t, lost, rx, most, sized)
		f.Text = fmt.Sprintf("its receive ring was full: the card dropped %s packets", ofAll(lost, lost+got))
		if got == 0 {
			f.Text = fmt.Sprintf("its receive ring was full: the card dropped %s packets", count(lost))
		}
		f.Harm = Harm{Symptom: scene.DatagramsLost, Amount: lost, Unit: "packets", Text: fmt.Sprintf("%s packets dropped by %s", ofAll(lost, 0), n.Device)}
		if got > 0 {
			f.Harm.Of = lost + got
			f.Harm.Text = fmt.Sprintf("%s packets dropped by %s", ofAll(lost, lost+got), n.Device)
		}
		if sized && rx < most {
			f.Settings = ringSettings(n, lost, rx, most)
			f.Remedy = Remedy{Now: now(s, r, f.Settings), Permanently: fmt.Sprintf("RxBufferSize=%.0f (now %.0f) in the .link file of %s. The link may go down for a second or two when it is set.", most, rx, n.Device)}
		} else {
			f.Remedy = Remedy{Permanently: fmt.Sprintf("The ring of %s can't be longer: spread its work over more CPUs (ethtool -L, interrupts, RPS), and look at what keeps the CPU from it.", n.Device)}
		}
		out = append(out, f)
	}
	return out
}

// ringSize is the receive ring's length and its maximum, where the driver tells both.
func ringSize(n recording.NIC) (rx, most float64, ok bool) {
	if n.Rings == nil || n.Rings.Rx == nil || n.Rings.RxMax == nil || *n.Rings.Rx <= 0 {
		return 0, 0, false
	}
	return float64(*n.Rings.Rx), float64(*n.Rings.RxMax), true
}

func ringEvidence(n recording.NIC, t ringStatistic, lost, rx, most float64, sized bool) []Evidence {
	out := []Evidence{{Side: For, Grade: Strong, Value: lost, Unit: "packets", Source: fmt.Sprintf("ethtool -S %s (%s: %s)", n.Device, n.Driver, t.name), Origin: "driver",
		Text: fmt.Sprintf("%s of %s (%s) grew by %s", t.name, n.Device, n.Driver, count(lost))}}
	e := Evidence{Side: For, Grade: Strong, Value: rx, Unit: "descriptors", Source: "ethtool -g " + n.Device, Origin: "ring",
		Text: fmt.Sprintf("its receive ring has %s descriptors of at most %s", count(rx), count(most))}
	switch {
	case !sized:
		e.Side, e.Grade, e.Text = Missing, Weak, "the length of its ring is not told by the driver"
	case rx >= most:
		e.Side = Against
		e.Text = fmt.Sprintf("its receive ring is as long as it can be, %s descriptors: the CPU came too late", count(rx))
	}
	return append(out, e)
}

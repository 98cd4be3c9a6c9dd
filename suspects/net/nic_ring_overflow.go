package net

import (
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var nicRingOverflow = &suspect.Suspect{
	Name:    "nic-ring-overflow",
	Fixture: true,
	Title:   "the network card's receive ring overflows",
	About: "The card writes what it receives into a ring of buffers that the CPU empties. When a burst fills the ring before the CPU comes, the card drops, and only the driver's own statistics show it: neither the sockets nor the IP counters move. " +
		"A ring that is short and loses nothing is none of anybody's business.",
	Needs: []suspect.Need{
		{Measure: "nics.statistics", Must: true, Why: "the driver's count of missed packets"},
		{Measure: "nics.settings", Must: true, Why: "the driver, the ring's length and its maximum"},
		{Measure: "host.links", Must: false, Why: "how many packets came in"},
		{Measure: "nics.interrupts", Must: false, Why: "whether one CPU alone empties it"},
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
	LeadsTo: []suspect.Lead{{To: "packet-loss", Lag: 2 * time.Second}, {To: scene.DatagramsLost, Lag: 2 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.FramesSkipped, Lag: 5 * time.Second}},
	Remedy: suspect.Remedy{
		Now:         "ethtool -G DEVICE rx DESCRIPTORS",
		Permanently: "RxBufferSize= in the .link file. The link may go down for a second or two when it is set.",
	},
	Verified: "the driver's count does not grow",
	Next:     "ethtool -S DEVICE | grep -iE 'miss|no_dma|out_of_buffer|discard|fifo'; ethtool -g DEVICE",
	Weigh:    weighNicRingOverflow,
}

func weighNicRingOverflow(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, n := range hardwareNICs(r) {
		all := nicSeries(r, n.Netns, n.Device)
		t, missed, ok := grownStatistic(all, n.Driver, ringStatistics)
		f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindInterface, Netns: n.Netns, Device: n.Device},
			Active: missed.Active(), Next: remedy.InNetns(s, n.Netns, fmt.Sprintf("ethtool -S %s; ethtool -g %s", n.Device, n.Device))}
		rx, most, sized := ringSize(n)
		lost := missed.Sum()
		switch {
		case !ok || lost == 0 && !sized:
			continue
		case lost == 0:
			f.Evidence = []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: 0, Unit: "packets", Source: source.Of("ethtool -S " + n.Device), Origin: "driver",
				Text: fmt.Sprintf("%s of %s did not grow: its ring of %s (of at most %s) lost nothing", t.name, n.Device, units.Count(rx), units.Count(most))}}
			out = append(out, f)
			continue
		}
		got := arrivedAt(r, []recording.Subject{f.Subject})
		f.Evidence = ringEvidence(n, t, lost, rx, most, sized)
		f.Text = fmt.Sprintf("its receive ring was full: the card dropped %s packets", units.OfAll(lost, lost+got))
		if got == 0 {
			f.Text = fmt.Sprintf("its receive ring was full: the card dropped %s packets", units.Count(lost))
		}
		f.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: lost, Unit: "packets", Text: fmt.Sprintf("%s packets dropped by %s", units.OfAll(lost, 0), n.Device)}
		if got > 0 {
			f.Harm.Of = lost + got
			f.Harm.Text = fmt.Sprintf("%s packets dropped by %s", units.OfAll(lost, lost+got), n.Device)
		}
		if sized && rx < most {
			f.Settings = ringSettings(n, lost, rx, most)
			f.Remedy = suspect.Remedy{Now: remedy.Now(s, r, f.Settings), Permanently: fmt.Sprintf("RxBufferSize=%.0f (now %.0f) in the .link file of %s. The link may go down for a second or two when it is set.", most, rx, n.Device)}
		} else {
			f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("The ring of %s can't be longer: spread its work over more CPUs (ethtool -L, interrupts, RPS), and look at what keeps the CPU from it.", n.Device)}
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

func ringEvidence(n recording.NIC, t ringStatistic, lost, rx, most float64, sized bool) []suspect.Evidence {
	out := []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: lost, Unit: "packets", Source: source.Ofs("ethtool -S %s (%s: %s)", n.Device, n.Driver, t.name), Origin: "driver",
		Text: fmt.Sprintf("%s of %s (%s) grew by %s", t.name, n.Device, n.Driver, units.Count(lost))}}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: rx, Unit: "descriptors", Source: source.Of("ethtool -g " + n.Device), Origin: "ring",
		Text: fmt.Sprintf("its receive ring has %s descriptors of at most %s", units.Count(rx), units.Count(most))}
	switch {
	case !sized:
		e.Side, e.Grade, e.Text = suspect.Missing, suspect.Weak, "the length of its ring is not reported by the driver"
	case rx >= most:
		e.Side = suspect.Against
		e.Text = fmt.Sprintf("its receive ring is as long as it can be, %s descriptors: the CPU came too late", units.Count(rx))
	}
	return append(out, e)
}

package net

import (
	"fmt"
	"math"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var softirqOnOneCPU = &suspect.Suspect{
	Name:  "softirq-on-one-cpu",
	Title: "one CPU does all the network's work while others idle",
	About: "A card with one queue, interrupts that all go to one CPU, or an RPS mask of one CPU make it receive every packet. Once it is in softirqs all the time, packets wait and are dropped, while other CPUs have nothing to do. " +
		"One queue is normal on a quiet host, and where all CPUs are busy spreading the work makes it worse.",
	Needs: []suspect.Need{
		{Measure: "host.softnet", Must: true, Why: "packets, squeezes and drops of each CPU"},
		{Measure: "host.cpu", Must: true, Why: "softirq and idle time of each CPU"},
		{Measure: "nics.softirqs", Must: false, Why: "NET_RX of each CPU"},
		{Measure: "nics.queues", Must: false, Why: "RPS masks, and where the interrupts go"},
		{Measure: "nics.interrupts", Must: false, Why: "which interface interrupts that CPU"},
		{Measure: "nics.settings", Must: false, Why: "how many queues the card has and could have"},
	},
	For: []string{
		"strong: one CPU in softirqs 80 % of the time and more (healthy: under 20 %) while others had a third of a CPU and more to spare",
		"strong: it received most of the packets",
		"strong: it was squeezed out of its budget, and no other",
		"strong: only its backlog dropped packets; decisive where as many were freed for CPU_BACKLOG",
	},
	Against: []string{
		"decisive: no other CPU has time left: RPS on two busy cores made loss worse",
		"decisive: it receives everything and spends little time on it: one queue is normal on a quiet host",
		"decisive: others in softirqs as much: it is not one CPU",
	},
	LeadsTo: []suspect.Lead{{To: "softnet-backlog", Lag: 5 * time.Second}, {To: "nic-ring-overflow", Lag: 5 * time.Second}, {To: "packet-loss", Lag: 5 * time.Second}, {To: scene.DatagramsLost, Lag: 5 * time.Second},
		{To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.ConnectLatency, Lag: 5 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.StreamLate, Lag: 5 * time.Second}, {To: scene.ThroughputPlateau, Lag: 5 * time.Second}},
	Remedy: suspect.Remedy{
		Now:         "ethtool -L DEVICE combined QUEUES",
		Permanently: "More queues with their interrupts on different CPUs, else RPS over the others, and RFS: CombinedChannels= or ReceivePacketSteeringCPUMask= (systemd 256) of the .link file, or a unit.",
	},
	Verified: "softirq time is even, and nothing is dropped",
	Next:     "mpstat -P ALL 1 5; cat /proc/net/softnet_stat; ethtool -l DEVICE; grep . /sys/class/net/DEVICE/queues/rx-*/rps_cpus",
	Weigh:    weighSoftirqOnOneCPU,
}

const (
	// hotShare of a second in softirqs: near 1. Healthy receivers that are loaded
	// stay under 0.3; ksoftirqd, which shares the CPU with programs, begins to run
	// when a softirq comes back ten times (kernel/softirq.c, MAX_SOFTIRQ_RESTART).
	hotShare = 0.8
	// hotSeconds and hotPart of the window: a burst of a second or two is none.
	hotSeconds = 3.0
	hotPart    = 0.2
	// roomElsewhere, in CPUs: less idle time than this on all others together is no
	// place to move work to.
	roomElsewhere = 0.3
	// quietShare: under it one queue is enough.
	quietShare = 0.2
)

func weighSoftirqOnOneCPU(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	all := softCPUs(r)
	if len(all) < 2 {
		return nil
	}
	total := 0.0
	var hot []*softCPU
	var top *softCPU
	for _, c := range all {
		total += c.processed.Sum()
		if top == nil || c.processed.Sum() > top.processed.Sum() {
			top = c
		}
		if seconds := intervals.Seconds(c.hot(), s.Window.End); seconds >= hotSeconds && seconds >= hotPart*s.Window.Length(s.Window.End).Seconds() {
			hot = append(hot, c)
		}
	}
	if len(hot) == 0 {
		return quietCPU(r, top, total, len(all))
	}
	var out []suspect.Finding
	for _, c := range hot {
		out = append(out, hotFinding(s, r, c, all, hot, total))
	}
	return out
}

// hot is when the CPU did little but softirqs.
func (c *softCPU) hot() []recording.Interval {
	var spans []recording.Interval
	for _, b := range c.busy {
		if b.v >= hotShare {
			spans = append(spans, b.Interval)
		}
	}
	return intervals.Merge(spans, measure.Joined)
}

// quietCPU: most packets go through one CPU, and it has hardly anything to do.
func quietCPU(r *recording.Recording, top *softCPU, total float64, n int) []suspect.Finding {
	part := top.processed.Sum() / max(1, total)
	busy, ok := meanShare(top.busy, nil)
	if !ok || total == 0 || part < mostOfPackets(n) || busy >= quietShare {
		return nil
	}
	return []suspect.Finding{{Subject: cpuSubject(top.id), Evidence: []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: busy, Unit: "share", Source: source.CPU("/proc/stat", "", "idle").And(source.Softnet), Origin: "cpu time",
		Text: fmt.Sprintf("CPU %d received %.0f %% of %s packets and spent %.0f %% of its time on softirqs: one is enough", top.id, 100*part, units.Count(total), 100*busy)}}}}
}

// mostOfPackets is the share at which one of n CPUs has most of the packets: half
// way from an even share to all of them.
func mostOfPackets(n int) float64 { return 0.5 + 0.5/float64(n) }

func hotFinding(s *scene.Scene, r *recording.Recording, c *softCPU, all, hot []*softCPU, total float64) suspect.Finding {
	active := c.hot()
	rows := backlogDrops(r)
	where := placeOf(s, r, c.id, rows)
	f := suspect.Finding{Subject: cpuSubject(c.id), Active: active, Related: append(where.devices, receiversOf(s, r, rows)...)}
	busy, _ := meanShare(c.busy, active)
	seconds := intervals.Seconds(active, s.Window.End)
	f.Text = fmt.Sprintf("did softirqs %.0f %% of %s while the others idled", 100*busy, units.Lasting(seconds))
	room, busyElse, measured := timeElsewhere(all, c, active)
	f.Evidence = append(f.Evidence, timeEvidence(c, busy, seconds, room, busyElse, measured, len(all), len(hot)))

	part := c.processed.Sum() / max(1, total)
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: part, Unit: "share", Source: source.Softnet.As("/proc/net/softnet_stat, column 1"), Origin: "softnet processed",
		Text: fmt.Sprintf("it received %.0f %% of %s packets, of %d CPUs", 100*part, units.Count(total), len(all))}
	if part < mostOfPackets(len(all)) {
		e.Side, e.Text = suspect.Against, e.Text+": others receive as well"
	}
	f.Evidence = append(f.Evidence, e)
	if e, ok := c.alone(all, "squeezes", "time_squeeze", func(c *softCPU) measure.Steps { return c.squeezed }); ok {
		f.Evidence = append(f.Evidence, e)
	}
	drops, dropped := c.alone(all, "packets dropped at the backlog", "softnet dropped", func(c *softCPU) measure.Steps { return c.dropped })
	if dropped {
		time := f.Evidence[0]
		f.Evidence = append(f.Evidence, freedAsWell(drops, rows, time.Side == suspect.For && time.Grade == suspect.Strong))
	}
	if n := c.dropped.Sum(); n > 0 {
		of := max(arrivedAt(r, where.devices), c.processed.Sum()) + n
		f.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: n, Of: of, Unit: "packets", Text: fmt.Sprintf("%s packets dropped at the backlog of CPU %d", units.OfAll(n, of), c.id)}
		f.Text += fmt.Sprintf(", and dropped %s packets", units.Count(n))
	}
	f.Evidence = append(f.Evidence, where.evidence...)
	f.Remedy, f.Settings = where.remedy, where.settings
	f.Next = "mpstat -P ALL 1 5; cat /proc/net/softnet_stat"
	if len(where.devices) > 0 {
		d := where.devices[0]
		f.Next = remedy.InNetns(s, d.Netns, "ethtool -l "+d.Device) + "; " + remedy.InNetns(s, d.Netns, fmt.Sprintf("grep . /sys/class/net/%s/queues/rx-*/rps_cpus", d.Device))
	}
	return f
}

// timeElsewhere is how many CPUs' worth of idle and of softirq time the others had.
func timeElsewhere(all []*softCPU, but *softCPU, active []recording.Interval) (idle, soft float64, measured bool) {
	for _, c := range all {
		if c == but {
			continue
		}
		if v, ok := meanShare(c.idle, active); ok {
			idle, measured = idle+v, true
		}
		v, _ := meanShare(c.busy, active)
		soft += v
	}
	return idle, soft, measured
}

func timeEvidence(c *softCPU, busy, seconds, room, busyElse float64, measured bool, n, hot int) suspect.Evidence {
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: busy, Unit: "share", Source: source.CPU("/proc/stat", "", "idle"), Origin: "cpu time",
		Text: fmt.Sprintf("CPU %d was in softirqs %.0f %% of %s, the other %d %.0f %% on average, with %.1f CPUs idle", c.id, 100*busy, units.Lasting(seconds), n-1, 100*busyElse/float64(n-1), room)}
	switch {
	case !measured:
		e.Grade, e.Doubt = suspect.Weak, "the others' idle time was not measured"
	case 2*hot > n:
		e.Side, e.Grade, e.Text = suspect.Against, suspect.Decisive, fmt.Sprintf("%d of %d CPUs were in softirqs all the time: it is not one CPU", hot, n)
	case room < roomElsewhere:
		e.Side, e.Grade = suspect.Against, suspect.Decisive
		e.Text = fmt.Sprintf("CPU %d was in softirqs %.0f %% of the time, but the other %d had %.2f CPUs idle in all: there is no room to spread it", c.id, 100*busy, n-1, room)
	}
	return e
}

// freedAsWell makes the drops decisive where the CPU was full, others had room, and
// the packets that the kernel freed for want of backlog are as many: a backlog
// that overflows nowhere but on the one CPU that does everything has no other
// cause. Both are running counts of the kernel, right however late snag ran.
func freedAsWell(drops suspect.Evidence, rows []recording.Drop, full bool) suspect.Evidence {
	freed := 0.0
	for _, d := range rows {
		freed += float64(d.N)
	}
	if full && freed > 0 && math.Abs(freed-drops.Value) <= 0.1*max(freed, drops.Value) {
		drops.Grade = suspect.Decisive
		drops.Source = drops.Source.And(source.Drops("CPU_BACKLOG"))
		drops.Text += fmt.Sprintf("; %s were freed for CPU_BACKLOG", units.Count(freed))
	}
	return drops
}

// alone reports whether nearly all of a count was this CPU's.
func (c *softCPU) alone(all []*softCPU, what, origin string, of func(*softCPU) measure.Steps) (suspect.Evidence, bool) {
	sum := 0.0
	for _, o := range all {
		sum += of(o).Sum()
	}
	own := of(c).Sum()
	if sum < 10 || own < 0.9*sum {
		return suspect.Evidence{}, false
	}
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: own, Unit: "count", Source: source.Softnet, Origin: origin,
		Text: fmt.Sprintf("%s %s were this CPU's", units.OfAll(own, sum), what)}, true
}

package net

import (
	"cmp"
	"fmt"
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

var softnetBacklog = &suspect.Suspect{
	Name:  "softnet-backlog",
	Title: "a CPU's backlog of received packets overflows",
	About: "Packets that one CPU hands to another (RPS), and those of veth, loopback and tunnels, wait in the receiving CPU's backlog of netdev_max_backlog packets. What finds it full is dropped, whatever the sockets' buffers. " +
		"A squeeze only says that a round of work ended before the queue was empty: what is left waits for the next one, and nothing is lost.",
	Needs: []suspect.Need{
		{Measure: "host.softnet", Must: true, Why: "drops and squeezes of each CPU's backlog"},
		{Measure: "drops.kfree_skb", Must: false, Why: "the same drops, by packet: which interface, flow and namespace"},
		{Measure: "drops.reason", Must: false, Why: "the reason CPU_BACKLOG"},
		{Measure: "host.links", Must: false, Why: "how many packets came in by that interface, and its own count of drops"},
		{Measure: "host.cpu", Must: false, Why: "whether the CPU had any time left"},
		{Measure: "host.netstat", Must: false, Why: "whether TCP sent again what was dropped"},
	},
	For: []string{
		"decisive: the CPUs' drops are as many as the CPU_BACKLOG drops, or as the interfaces' receive drops (healthy: 0)",
		"strong: a CPU's count of drops grew",
	},
	Against: []string{
		"decisive: squeezes and no drops: nothing was lost (an idle host: 6 squeezes, 0 drops)",
		"weak: the CPU was busy with softirqs all the time: a longer queue would only make the packets wait",
		"weak: all of them were TCP's, and next to nothing was sent again: keepalives and acknowledgements, a risk",
		"trap: the RPS flow limit drops at half the length already, and counts as a drop too",
	},
	LeadsTo: []suspect.Lead{{To: "packet-loss", Lag: 2 * time.Second}, {To: scene.DatagramsLost, Lag: 2 * time.Second}, {To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.FramesSkipped, Lag: 5 * time.Second}},
	Remedy: suspect.Remedy{
		Now:         "sysctl -w net.core.netdev_max_backlog=PACKETS",
		Permanently: "net.core.netdev_max_backlog in /etc/sysctl.d, with squeezes netdev_budget and netdev_budget_usecs together.",
	},
	Verified: "dropped of /proc/net/softnet_stat does not grow",
	Next:     "cat /proc/net/softnet_stat; sysctl net.core.netdev_max_backlog",
	Weigh:    weighSoftnetBacklog,
}

func weighSoftnetBacklog(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	all := softCPUs(r)
	var worst, most *softCPU // in drops, in squeezes
	var dropped measure.Steps
	squeezed := 0.0
	for _, c := range all {
		dropped = append(dropped, c.dropped...)
		squeezed += c.squeezed.Sum()
		if worst == nil || c.dropped.Sum() > worst.dropped.Sum() {
			worst = c
		}
		if most == nil || c.squeezed.Sum() > most.squeezed.Sum() {
			most = c
		}
	}
	lost, rows := dropped.Sum(), backlogDrops(r)
	early := false
	if n := measure.DropSteps(rows); worst != nil && lost == 0 && n.Sum() > 0 && n.Active()[0].Start <= worst.span.Start {
		early = true
		worst = slices.MaxFunc(all, func(a, b *softCPU) int { return cmp.Compare(a.processed.Sum(), b.processed.Sum()) })
		worst.dropped, dropped, lost = n, n, n.Sum() // before the counters were first read
	}
	switch {
	case worst == nil:
		return nil
	case lost == 0 && squeezed > 0:
		return []suspect.Finding{{Subject: cpuSubject(most.id), Evidence: []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: squeezed, Unit: "squeezes", Source: source.Softnet, Origin: "softnet",
			Text: fmt.Sprintf("%s rounds of work ended before the queue was empty (squeezes), and 0 packets were dropped: what was left waited for the next round", units.Count(squeezed))}}}}
	case lost == 0:
		return nil
	}
	devices := interfacesOf(s, r, rows)
	f := suspect.Finding{Subject: cpuSubject(worst.id), Active: dropped.Active(),
		Related:  append(devices, receiversOf(s, r, rows)...),
		Evidence: backlogEvidence(r, worst, lost, rows, early),
		Next:     "cat /proc/net/softnet_stat; sysctl net.core.netdev_max_backlog net.core.netdev_budget net.core.netdev_budget_usecs"}
	f.Settings, f.Calls = softnetSettings(r, worst, dropped, squeezed)
	f.Remedy = backlogRemedy(s, r, worst, dropped, f.Settings)
	of := arrivedAt(r, devices)
	if of > 0 {
		of += lost
	} else {
		of = worst.processed.Sum() + lost
	}
	f.Text = fmt.Sprintf("its backlog was full: dropped %s received packets", units.OfAll(lost, of))
	if n := worst.dropped.Sum(); n < lost {
		f.Text = fmt.Sprintf("the backlogs of the CPUs were full: dropped %s received packets, %s of them on this one", units.OfAll(lost, of), units.Count(n))
	}
	if len(devices) > 0 {
		f.Text += " of " + s.Name(devices[0])
	}
	if e, ok := unmissed(r, rows, lost, f.Active); ok {
		f.Evidence = append(f.Evidence, e)
		return []suspect.Finding{f}
	}
	f.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: lost, Of: of, Unit: "packets", Text: fmt.Sprintf("%s packets dropped at a CPU's backlog", units.OfAll(lost, of))}
	return []suspect.Finding{f}
}

func backlogEvidence(r *recording.Recording, worst *softCPU, lost float64, rows []recording.Drop, early bool) []suspect.Evidence {
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: lost, Unit: "packets", Source: source.Softnet.As("/proc/net/softnet_stat, column 2"), Origin: "softnet",
		Text: fmt.Sprintf("the CPUs' backlogs dropped %s packets, CPU %d %s of them", units.Count(lost), worst.id, units.Count(worst.dropped.Sum()))}
	freed, same := measure.DropSteps(rows).AgreeIn(lost, worst.span)
	_, traced := r.Measured("drops.kfree_skb")
	refused := 0.0
	for _, s := range r.Select("node_network_receive_drop_total") {
		if n, ok := s.Increase(); ok {
			refused += n
		}
	}
	switch {
	case early:
		e.Grade, e.Source = suspect.Decisive, source.Drops("CPU_BACKLOG")
		e.Text = fmt.Sprintf("%s packets were freed for CPU_BACKLOG, before the CPUs' counters were first read", units.Count(lost))
	case traced && freed > 0 && same:
		e.Grade = suspect.Decisive
		e.Source = e.Source.And(source.Drops("CPU_BACKLOG"))
		e.Text += fmt.Sprintf("; %s were freed for CPU_BACKLOG", units.Count(freed))
	case refused > 0 && measure.Agree(refused, lost):
		e.Grade = suspect.Decisive
		e.Source = e.Source.And(source.Of("ip -s link, RX dropped"))
		e.Text += fmt.Sprintf("; the interfaces' receive drops grew by %s", units.Count(refused))
	case traced && freed > 0:
		e.Text += fmt.Sprintf("; but %s were freed for CPU_BACKLOG", units.Count(freed))
		e.Doubt = measure.LossOf(r, "drops.kfree_skb", freed)
	}
	out := []suspect.Evidence{e}
	if limited := grewOnMachine(r, "node_softnet_flow_limit_count_total"); limited > 0 {
		out = append(out, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: limited, Unit: "packets", Source: source.Softnet.As("/proc/net/softnet_stat, column 11"), Origin: "flow limit",
			Text: fmt.Sprintf("%s of them were refused by the flow limit (net.core.flow_limit_cpu_bitmap), at half the backlog's length: one flow fills it", units.Count(limited))})
	}
	if v, ok := meanShare(worst.busy, worst.dropped.Active()); ok {
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: v, Unit: "share", Source: source.CPU(fmt.Sprint("/proc/stat, softirq of cpu", worst.id), fmt.Sprint(worst.id), "softirq"), Origin: "cpu time"}
		if v < hotShare {
			e.Text = fmt.Sprintf("CPU %d was in softirqs %.0f %% of those seconds: it has the time, its queue is too short for the bursts", worst.id, 100*v)
		} else {
			e.Side, e.Text = suspect.Against, fmt.Sprintf("CPU %d was in softirqs %.0f %% of those seconds: a longer queue would only make packets wait", worst.id, 100*v)
		}
		out = append(out, e)
	}
	return out
}

// grewOnMachine is the growth of a machine-wide counter over all its series.
func grewOnMachine(r *recording.Recording, name string) float64 {
	n := 0.0
	for _, s := range r.Select(name) {
		if v, ok := s.Increase(); ok {
			n += v
		}
	}
	return n
}

// longestBacklog that is proposed: each packet holds 1 to 4 kB.
const longestBacklog = 65536

// spent reports whether a CPU had no time left while it dropped: nothing of a longer
// queue would help.
func (c *softCPU) spent(dropped measure.Steps) bool {
	v, ok := meanShare(c.busy, dropped.Active())
	return ok && v >= hotShare
}

// longerSoftnet is four times the present length, or that and what the worst second lost,
// all of which may have been one burst, to the next power of two.
func longerSoftnet(r *recording.Recording, dropped measure.Steps) (now, want, worst float64, ok bool) {
	now, ok = measure.Sysctl(r, 0, "net.core.netdev_max_backlog")
	for _, d := range dropped {
		worst = max(worst, d.N)
	}
	return now, max(now, min(longestBacklog, powerOfTwo(max(4*now, now+worst)))), worst, ok
}

func backlogRemedy(s *scene.Scene, r *recording.Recording, on *softCPU, dropped measure.Steps, set []suspect.Setting) suspect.Remedy {
	if on.spent(dropped) {
		return suspect.Remedy{Permanently: fmt.Sprintf("Take work off CPU %d: fewer packets, cheaper rules for them, or RPS to CPUs that idle. A longer netdev_max_backlog would only make them wait.", on.id)}
	}
	if len(set) == 0 {
		return suspect.Remedy{Permanently: "A larger net.core.netdev_max_backlog in /etc/sysctl.d."}
	}
	return suspect.Remedy{Now: remedy.Now(s, r, set), Permanently: remedy.Kept(s, r, set)}
}

package net

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// place is where a CPU's packets come from, and how they could be spread.
type place struct {
	devices  []recording.Subject
	evidence []suspect.Evidence
	remedy   suspect.Remedy
	settings []suspect.Setting
}

// placeOf finds the interfaces whose packets that CPU handles: those whose packets
// its backlog dropped, else those that interrupt it or whose RPS mask names it
// alone, else the one that received most.
func placeOf(s *scene.Scene, r *recording.Recording, cpu int, rows []recording.Drop) place {
	var p place
	p.devices = interfacesOf(s, r, rows)
	for _, q := range lastQueues(r) {
		if q.Dir == "rx" && q.RPS != nil && namesOnly(*q.RPS, cpu) {
			p.add(recording.Subject{Kind: recording.KindInterface, Netns: q.Netns, Device: q.Device})
			p.evidence = append(p.evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: float64(q.Index), Unit: "queue", Source: source.Ofs("/sys/class/net/%s/queues/rx-%d/rps_cpus", q.Device, q.Index), Origin: "rps",
				Text: fmt.Sprintf("RPS hands all packets of %s rx-%d to CPU %d", q.Device, q.Index, cpu)})
		}
	}
	irqs := interruptsOn(r, cpu)
	for _, i := range irqs {
		p.add(recording.Subject{Kind: recording.KindInterface, Netns: i.row.Netns, Device: i.row.Device})
		p.evidence = append(p.evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: i.n, Unit: "interrupts", Source: source.Of("/proc/interrupts", source.Interrupts), Origin: "interrupts",
			Text: fmt.Sprintf("interrupt %d (%s of %s) came %s times to CPU %d; it may go to %s", i.row.Number, i.row.Name, i.row.Device, units.Count(i.n), cpu, mayGoTo(i.row))})
	}
	if len(p.devices) == 0 {
		if d := busiestInterface(r); d.Device != "" {
			p.add(d)
		}
	}
	if len(p.evidence) > 3 {
		p.evidence = p.evidence[:3]
	}
	if len(p.devices) > 0 {
		p.settings = spreadSettings(r, cpu, p.devices[0], irqs)
		p.remedy = suspect.Remedy{Now: steerNow(s, p.settings), Permanently: remedy.Kept(s, r, p.settings)}
	}
	return p
}

func (p *place) add(d recording.Subject) {
	for _, have := range p.devices {
		if have == d {
			return
		}
	}
	if len(p.devices) < measure.MostRelated {
		p.devices = append(p.devices, d)
	}
}

func mayGoTo(i recording.IRQ) string {
	if i.Allowed == "" {
		return "CPUs that were not read"
	}
	return "CPU " + i.Allowed
}

// lastQueues is the last row of each queue.
func lastQueues(r *recording.Recording) []recording.Queue {
	type key struct {
		netns       uint64
		device, dir string
		index       int
	}
	at := map[key]int{}
	var out []recording.Queue
	for _, q := range r.Queues {
		k := key{q.Netns, q.Device, q.Dir, q.Index}
		if i, ok := at[k]; ok {
			out[i] = q
			continue
		}
		at[k] = len(out)
		out = append(out, q)
	}
	return out
}

// nicOf is how an interface is set, its last row, or nil.
func nicOf(r *recording.Recording, netns uint64, device string) *recording.NIC {
	for i := len(r.NICs) - 1; i >= 0; i-- {
		if n := &r.NICs[i]; n.Device == device && measure.Namespace(r, n.Netns) == measure.Namespace(r, netns) {
			return n
		}
	}
	return nil
}

type countedIRQ struct {
	row recording.IRQ
	n   float64 // on that CPU
}

// interruptsOn are the interfaces' interrupts that came to that CPU and to hardly
// any other, most first.
func interruptsOn(r *recording.Recording, cpu int) []countedIRQ {
	last := map[int]recording.IRQ{}
	for _, i := range r.IRQs {
		last[i.Number] = i
	}
	var out []countedIRQ
	for _, s := range r.Select("node_interrupts_total", "cpu", strconv.Itoa(cpu)) {
		number, err := strconv.Atoi(s.Labels["type"])
		row, ok := last[number]
		n, grown := s.Increase()
		if err != nil || !ok || !grown || n < 100 { // fewer say nothing of where they go
			continue
		}
		sum := 0.0
		for _, o := range r.Select("node_interrupts_total", "type", s.Labels["type"]) {
			v, _ := o.Increase()
			sum += v
		}
		if n >= 0.9*sum {
			out = append(out, countedIRQ{row, n})
		}
	}
	for i := 1; i < len(out); i++ {
		for j := i; j > 0 && out[j].n > out[j-1].n; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}

// busiestInterface received most packets, loopback aside.
func busiestInterface(r *recording.Recording) recording.Subject {
	var out recording.Subject
	most := 0.0
	for _, series := range r.Select("node_network_receive_packets_total") {
		if n, ok := series.Increase(); ok && n > most && series.Labels["device"] != "lo" {
			most = n
			out = recording.Subject{Kind: recording.KindInterface, Netns: measure.NetnsOf(r, series), Device: series.Labels["device"]}
		}
	}
	return out
}

// steerNow is the command that makes such settings: more queues, an interrupt for each CPU,
// or masks of receive queues (Documentation/networking/scaling.rst). The masks of queues
// are alike.
func steerNow(s *scene.Scene, set []suspect.Setting) string {
	var flows, mask, each string
	var queues, interrupts []string
	for _, c := range set {
		switch c.Kind {
		case "channels":
			return remedy.Command(s, nil, set[:1])
		case "sysctl":
			flows = remedy.Command(s, nil, []suspect.Setting{c})
		case "rps":
			mask, queues = c.Value, append(queues, strconv.Itoa(*c.Queue))
		case "rfs":
			each = c.Value
		case "irq":
			interrupts = append(interrupts, fmt.Sprintf("echo %s > /proc/irq/%d/smp_affinity", c.Value, c.IRQ))
		}
	}
	if len(queues) == 0 {
		return strings.Join(interrupts, " && ")
	}
	at := set[len(set)-1].At
	dir := remedy.Quoted(fmt.Sprintf("/sys/class/net/%s/queues/rx-", at.Device))
	do := fmt.Sprintf("echo %s > %s$q/rps_cpus", mask, dir)
	if each != "" {
		do += fmt.Sprintf("; echo %s > %s$q/rps_flow_cnt", each, dir)
	}
	line := remedy.RunIn(s, at.Netns, fmt.Sprintf("for q in %s; do %s; done", strings.Join(queues, " "), do))
	if flows != "" && line != "" {
		line = flows + " && " + line
	}
	return line
}

// steerTo are the CPUs that get the packets of an interface: the others of the card's own
// NUMA node where that is known and has any, as memory of another node is slower to
// reach (scaling.rst, RPS: Suggested Configuration); with one other CPU, both.
func steerTo(r *recording.Recording, cpu int, d recording.Subject) []int {
	host := r.Manifest.CPUs
	all := otherCPUs(host, cpu)
	if host <= 2 && cpu >= 0 {
		return append(all, cpu)
	}
	node, ok := r.FactOf("nic."+d.Device+".numa_node", 0)
	list, ok2 := r.FactOf("numa."+node+".cpus", 0)
	if !ok || !ok2 {
		return all
	}
	var near []int
	for _, c := range listOfCPUs(list) {
		if slices.Contains(all, c) {
			near = append(near, c)
		}
	}
	if len(near) == 0 {
		return all
	}
	return near
}

// rfsFlows is what scaling.rst proposes for a host of moderate load.
const rfsFlows = 32768

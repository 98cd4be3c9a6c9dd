package suspects

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"snag/internal/cpus"
	"snag/recording"
	"snag/scene"
)

// place is where a CPU's packets come from, and how they could be spread.
type place struct {
	devices  []recording.Subject
	evidence []Evidence
	remedy   string
	settings []Setting
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
			p.evidence = append(p.evidence, Evidence{Side: For, Grade: Weak, Value: float64(q.Index), Unit: "queue", Source: fmt.Sprintf("/sys/class/net/%s/queues/rx-%d/rps_cpus", q.Device, q.Index), Origin: "rps",
				Text: fmt.Sprintf("RPS hands all packets of %s rx-%d to CPU %d", q.Device, q.Index, cpu)})
		}
	}
	irqs := interruptsOn(r, cpu)
	for _, i := range irqs {
		p.add(recording.Subject{Kind: recording.KindInterface, Netns: i.row.Netns, Device: i.row.Device})
		p.evidence = append(p.evidence, Evidence{Side: For, Grade: Weak, Value: i.n, Unit: "interrupts", Source: "/proc/interrupts", Origin: "interrupts",
			Text: fmt.Sprintf("interrupt %d (%s of %s) came %s times to CPU %d; it may go to %s", i.row.Number, i.row.Name, i.row.Device, count(i.n), cpu, mayGoTo(i.row))})
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
		p.remedy = spreadOver(s, r, cpu, p.devices[0], irqs)
		p.settings = spreadSettings(r, cpu, p.devices[0], irqs)
	}
	return p
}

func (p *place) add(d recording.Subject) {
	for _, have := range p.devices {
		if have == d {
			return
		}
	}
	if len(p.devices) < mostRelated {
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
		if n := &r.NICs[i]; n.Device == device && namespace(r, n.Netns) == namespace(r, netns) {
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
			out = recording.Subject{Kind: recording.KindInterface, Netns: netnsOf(r, series), Device: series.Labels["device"]}
		}
	}
	return out
}

// spreadOver is the command that gives the work to more CPUs: more queues where the
// card has them, interrupts apart, else RPS over the other CPUs with RFS.
func spreadOver(s *scene.Scene, r *recording.Recording, cpu int, d recording.Subject, irqs []countedIRQ) string {
	host := r.Manifest.CPUs
	if nic := nicOf(r, d.Netns, d.Device); nic != nil && nic.Channels != nil {
		c := nic.Channels
		if c.Combined != nil && c.CombinedMax != nil {
			if n := min(*c.CombinedMax, host); n > *c.Combined {
				return fmt.Sprintf("%s (now %d); keep it as CombinedChannels=%d in the .link file", inNetns(s, d.Netns, fmt.Sprintf("ethtool -L %s combined %d", d.Device, n)), *c.Combined, n)
			}
		}
	}
	mine := 0
	for _, i := range irqs {
		if i.row.Device == d.Device {
			mine++
		}
	}
	if mine > 1 { // several queues, one CPU: the masks are to blame
		var set []string
		next := 0
		for _, i := range irqs {
			if i.row.Device != d.Device {
				continue
			}
			set = append(set, fmt.Sprintf("echo %d > /proc/irq/%d/smp_affinity_list", next%max(1, host), i.row.Number))
			next++
		}
		return strings.Join(set[:min(len(set), 4)], "; ") + " …, one CPU each; keep it in a unit, with irqbalance off or told so (IRQBALANCE_BANNED_CPULIST)"
	}
	return rpsOver(s, r, cpu, d)
}

// rpsOver gives the packets to the other CPUs, whose flows stay where their readers
// run (RFS): Documentation/networking/scaling.rst. The kernel rounds rps_flow_cnt
// up to a power of two, and takes masks only as hex groups of 8 with commas and
// without 0x.
func rpsOver(s *scene.Scene, r *recording.Recording, cpu int, d recording.Subject) string {
	host := r.Manifest.CPUs
	queues := 0
	for _, q := range lastQueues(r) {
		if q.Dir == "rx" && q.Device == d.Device && namespace(r, q.Netns) == namespace(r, d.Netns) {
			queues++
		}
	}
	queues = max(1, queues)
	each := int(powerOfTwo(float64(rfsFlows / queues)))
	target := steerTo(r, cpu, d)
	files := fmt.Sprintf("/sys/class/net/%s/queues/rx-", d.Device)
	do := fmt.Sprintf("for q in %s*; do echo %s > $q/rps_cpus; echo %d > $q/rps_flow_cnt; done", files, cpus.Mask(target, host), each)
	if s.NetnsName(d.Netns) != "" {
		do = inNetns(s, d.Netns, "sh -c '"+do+"'")
	}
	return fmt.Sprintf("%s; sysctl -w net.core.rps_sock_flow_entries=%d; keep it in a unit (ReceivePacketSteeringCPUMask= of the .link file from systemd 256 on) and /etc/sysctl.d", do, rfsFlows)
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

package host

import (
	"fmt"
	"sort"

	"snag/internal/procroot"
	"snag/recording"
)

// What makes a process that holds no socket worth rows: it takes much of what the
// others need.
const (
	busyCPU  = 0.05    // of a CPU, its waited-for children's included
	busyIO   = 1 << 20 // bytes per second to and from disks
	mostBusy = 16      // of a scan, the busiest
)

// What makes one that holds sockets worth a closer look, each second.
const (
	lateFaults = 20 // major faults per second: 20 of 5 ms are a tenth of its time
	mostLate   = 8  // watched of those that run while there is a queue for the CPUs
)

// queues reports whether anybody waits for the machine's CPUs and for its disks.
type queues interface {
	crowded() bool
	stuck() bool
}

// use is what a process had used of the machine at a time.
type use struct {
	t       recording.Time
	stat    procStat
	disk    diskUse // may be of an earlier time
	blocked int     // looks in a row that found it waiting for a disk
}

// busyProcess is one that used much since the last scan.
type busyProcess struct {
	one    *process
	before use
	weight float64
}

// use compares a process with the last scan, and adds it to the busy ones.
func (p *processes) use(t recording.Time, one *process, stat procStat, busy []busyProcess) []busyProcess {
	before := one.use
	one.use = use{t: t, stat: stat, disk: before.disk}
	if p.dueIO(one, before, stat) {
		p.ioLooks++
		one.use.disk = p.read.io(one.pid)
		one.use.disk.t = t
	}
	if one.pid == p.env.SelfPID || before.t == 0 || t <= before.t {
		return busy
	}
	d := t.Sub(before.t).Seconds()
	cpu := float64(stat.CPU+stat.Waited-before.stat.CPU-before.stat.Waited) / procroot.UserHZ / d
	weight := cpu / busyCPU
	if apart := one.use.disk.t.Sub(before.disk.t).Seconds(); apart > 0 {
		weight = max(weight, one.use.disk.since(before.disk)/apart/busyIO)
	}
	if weight < 1 && !one.busy {
		return busy
	}
	return append(busy, busyProcess{one, before, weight})
}

// writeBusy writes rows of the busiest processes, of a new one also that of the
// scan before, so that what it used can be told. One that was busy keeps its rows.
func (p *processes) writeBusy(t recording.Time, busy []busyProcess, rows map[int]bool) {
	p.ioLooks = 0
	sort.Slice(busy, func(i, j int) bool { return busy[i].weight > busy[j].weight })
	for i, b := range busy {
		if i >= mostBusy && !b.one.busy || rows[b.one.pid] {
			b.one.busy = b.one.busy || i < mostBusy
			continue
		}
		if !b.one.busy && !b.one.sockets && !p.env.Watch.Has(b.one.pid) {
			b.one.busy = true
			p.writeAt(b.one, b.before)
		}
		b.one.busy = true
		rows[b.one.pid] = true
		p.write(t, b.one, b.one.use.stat)
	}
}

// suspect watches a process with sockets that waits for what the machine lacks: a
// disk, its memory in swap, a CPU.
func (p *processes) suspect(t recording.Time, one *process, stat procStat) {
	before := one.now
	one.now = use{t: t, stat: stat}
	if stat.State == 'D' {
		one.now.blocked = before.blocked + 1
	}
	if before.t == 0 || one.pid == p.env.SelfPID {
		return
	}
	d := t.Sub(before.t).Seconds()
	switch {
	case one.now.blocked >= 2:
		p.env.Watch.Add(one.pid, "it waits for a disk")
	case float64(stat.Major-before.stat.Major) >= lateFaults*d:
		p.env.Watch.Add(one.pid, "it reads its memory back from a disk")
	case p.queues.stuck() && p.usesDisk(one, before) && p.late < mostLate:
		p.late++
		p.env.Watch.Add(one.pid, "it uses a disk while somebody waits for one")
	case p.queues.crowded() && stat.CPU > before.stat.CPU && p.late < mostLate:
		p.late++
		p.env.Watch.Add(one.pid, fmt.Sprintf("it runs while there is a queue for the CPUs (%s)", one.comm))
	}
}

// usesDisk reports whether a process read from or wrote to a disk since the last
// look: the state of its first thread does not tell of the others.
func (p *processes) usesDisk(one *process, before use) bool {
	one.now.disk = p.read.io(one.pid)
	return one.now.disk.since(before.disk) != 0
}

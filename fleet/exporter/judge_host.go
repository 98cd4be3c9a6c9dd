package exporter

import (
	"fmt"
	"math"

	"snag/internal/units"
)

// hostChecks are of CPUs, memory, disks and clocks.
var hostChecks = []check{
	{"cpu", []string{"idle", "cpus"}, saturated},
	{"cpu", []string{"idle", "steal", "cpus"}, stolen},
	{"cpu", []string{"idle", "softirq", "cpus"}, softirqs},
	{"pressure", []string{"waits for cpu"}, crowded},
	{"diskstats", []string{"disk busy", "disk time"}, disks},
	{"pressure", []string{"stalled by io"}, stalled},
	{"vmstat", []string{"oom kills"}, killed},
	{"vmstat", []string{"swapped in", "major faults"}, swap},
	{"pressure", []string{"waits for memory"}, memoryWaits},
	{"meminfo", []string{"available", "memory"}, memory},
	{"sockstat", []string{"tcp memory"}, tcpMemory},
	{"filefd", []string{"files", "files limit"}, files},
	{"timex", []string{"offset", "synchronized"}, clock},
	{"time", []string{"clock ahead"}, farAhead},
}

// idle is the share of the time in which the CPUs had nothing to do, or waited for a disk, as in
// suspects/measure/cpu_time.go.
func (v *values) idle() float64 {
	cpus := v.of("cpus", "")
	if cpus <= 0 {
		return 1
	}
	return (v.of("idle", "") + v.of("iowait", "")) / cpus
}

func saturated(v *values) []Sign {
	busy, cpus := 1-v.idle(), v.of("cpus", "")
	if v.idle() >= busyIdle {
		return nil
	}
	text := fmt.Sprintf("%s busy %s of the time", units.Plural(int(cpus), "CPU"), units.Percent(busy))
	if load, ok := v.one("load"); ok {
		text += fmt.Sprintf(", load %.3g", load)
	}
	return []Sign{{Name: "cpu-saturated", Suspect: true, Value: busy, Unit: "share", Text: text,
		Usual: v.usually("", func(x []float64) float64 { return max(0, 1-(x[0]+x[1])/cpus) }, "idle", "iowait")}}
}

// stolen: of a machine that asks for next to nothing a share says nothing.
func stolen(v *values) []Sign {
	cpus, stolen := v.of("cpus", ""), v.of("steal", "")
	asked := cpus - v.of("idle", "") - v.of("iowait", "")
	if asked <= 0 || stolen < stealTold*asked || stolen < stealTold/2*cpus {
		return nil
	}
	return []Sign{{Name: "cpu-saturated", Suspect: true, Subject: "steal", Value: stolen / asked, Unit: "share",
		Usual: v.usually("", func(x []float64) float64 { return ratio([]float64{x[2], cpus - x[0] - x[1]}) }, "idle", "iowait", "steal"),
		Text:  fmt.Sprintf("the hypervisor took %s of the CPU time asked for", units.Percent(stolen/asked))}}
}

func softirqs(v *values) []Sign {
	hot, cpus := v.of("softirq", ""), v.of("cpus", "")
	if hot < hotShare || v.idle()*cpus < roomElsewhere {
		return nil
	}
	return []Sign{{Name: "softirq-on-one-cpu", Suspect: true, Value: hot, Usual: v.usually("", itself, "softirq"), Unit: "share",
		Text: fmt.Sprintf("one CPU of %.0f in softirqs %s of the time", cpus, units.Percent(hot))}}
}

// crowded: where all CPUs are busy that is what they wait for (suspects/host/run_queue_wait.go).
func crowded(v *values) []Sign {
	share := v.of("waits for cpu", "")
	if _, ok := v.one("idle"); share < crowdedShare || ok && v.idle() < busyIdle {
		return nil
	}
	return []Sign{{Name: "run-queue-wait", Suspect: true, Value: share, Usual: v.usually("", itself, "waits for cpu"), Unit: "share",
		Text: fmt.Sprintf("threads waited for a CPU %s of the time", units.Percent(share))}}
}

func disks(v *values) (out []Sign) {
	for _, d := range v.devices("disk busy") {
		busy := v.of("disk busy", d)
		// Writes that return at once make reads no quicker (suspects/host/disks.go).
		each := ratio([]float64{v.of("disk time", d), v.of("reads", d) + v.of("writes", d)})
		for _, kind := range [][2]string{{"read time", "reads"}, {"write time", "writes"}} {
			if took := v.of(kind[0], d); 2*took > v.of("disk time", d) {
				each = max(each, ratio([]float64{took, v.of(kind[1], d)}))
			}
		}
		if busy >= busyDisk && each >= slowDisk {
			out = append(out, Sign{Name: "disk-stall", Suspect: true, Subject: d, Value: busy, Usual: v.usually(d, itself, "disk busy"), Unit: "share",
				Text: fmt.Sprintf("%s takes %s per request, busy %s of the time", d, units.Short(each), units.Percent(busy))})
		}
	}
	return out
}

func stalled(v *values) []Sign {
	share := v.of("stalled by io", "")
	if share < delayShare {
		return nil
	}
	return []Sign{{Name: "disk-stall", Suspect: true, Value: share, Usual: v.usually("", itself, "stalled by io"), Unit: "share",
		Text: fmt.Sprintf("all tasks waited for a disk %s of the time", units.Percent(share))}}
}

func killed(v *values) []Sign {
	n := math.Round(grown(v.of("oom kills", "")))
	if n < 1 {
		return nil
	}
	text := "the kernel killed a process for want of memory"
	if n > 1 {
		text = fmt.Sprintf("the kernel killed %s processes for want of memory", units.Count(n))
	}
	return []Sign{{Name: "service-killed", Suspect: true, Value: n, Usual: v.usually("", counted, "oom kills"), Unit: "processes", Text: text}}
}

// swap: major faults without pages from swap are files that are read again.
func swap(v *values) []Sign {
	faults, in := v.of("major faults", ""), v.of("swapped in", "")
	if faults < swapRate || in < faults/2 {
		return nil
	}
	return []Sign{{Name: "swap", Suspect: true, Value: in, Usual: v.usually("", itself, "swapped in"), Unit: "pages per second",
		Text: fmt.Sprintf("%s pages per second read back from swap, %s written", units.Count(in), units.Count(v.of("swapped out", "")))}}
}

func memoryWaits(v *values) []Sign {
	share := v.of("waits for memory", "")
	if share < waitsForMemory {
		return nil
	}
	return []Sign{{Name: "memory-pressure", Value: share, Usual: v.usually("", itself, "waits for memory"), Unit: "share",
		Text: fmt.Sprintf("tasks waited for memory %s of the time", units.Percent(share))}}
}

func memory(v *values) []Sign {
	free, all := v.of("available", ""), v.of("memory", "")
	if all <= 0 || 1-free/all < nearLimit {
		return nil
	}
	return []Sign{{Name: "memory-low", Value: 1 - free/all, Usual: v.usually("", func(x []float64) float64 { return 1 - x[0]/all }, "available"), Unit: "share",
		Text: fmt.Sprintf("%s of %s of memory left", units.Bytes(free), units.Bytes(all))}}
}

func tcpMemory(v *values) []Sign {
	used, all := v.of("tcp memory", ""), v.of("memory", "")
	if all <= 0 || used < pressureShare*all {
		return nil
	}
	return []Sign{{Name: "tcp-memory", Value: used, Usual: v.usually("", itself, "tcp memory"), Unit: "bytes",
		Text: units.Bytes(used) + " in TCP's buffers, near tcp_mem's default"}}
}

func files(v *values) []Sign {
	used, limit := v.of("files", ""), v.of("files limit", "")
	if limit <= 0 || used < nearLimit*limit {
		return nil
	}
	return []Sign{{Name: "file-table", Value: used / limit, Usual: v.usually("", func(x []float64) float64 { return x[0] / limit }, "files"), Unit: "share",
		Text: fmt.Sprintf("%s of %s open files of fs.file-max", units.Count(used), units.Count(limit))}}
}

func clock(v *values) []Sign {
	offset := v.of("offset", "")
	switch {
	case v.of("synchronized", "") == 0:
		return []Sign{{Name: "clock", Value: math.Abs(offset), Unit: "seconds", Text: "not synchronized: no time server corrects it"}}
	case math.Abs(offset) >= mostOffset:
		return []Sign{{Name: "clock", Value: math.Abs(offset), Unit: "seconds", Text: units.Short(math.Abs(offset)) + " off its time server"}}
	}
	return nil
}

func farAhead(v *values) []Sign {
	by := v.of("clock ahead", "")
	if math.Abs(by) < farOff {
		return nil
	}
	word := "ahead of"
	if by < 0 {
		word = "behind"
	}
	return []Sign{{Name: "clock", Value: math.Abs(by), Unit: "seconds", Text: fmt.Sprintf("%s %s the store's", units.Lasting(math.Abs(by)), word)}}
}

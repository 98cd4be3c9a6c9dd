package host

import (
	"fmt"
	"strings"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var swapping = &suspect.Suspect{
	Name:  "swap",
	Title: "a service reads its memory back from swap",
	About: "Pages of the process were sent to swap, and its requests need them: each costs a read from a disk, in the middle of whatever the program does. " +
		"Swap full of pages that no process touches is healthy: that is what swap is for.",
	Needs: []suspect.Need{
		{Measure: "host.memory", Must: true, Why: "pages that came from swap and went there"},
		{Measure: "host.processes", Must: true, Why: "which process had the major faults, and how much of its memory is in swap"},
		{Measure: "host.cgroup", Why: "the limit of its control group's memory"},
		{Measure: "threads.state", Why: "that its threads waited for the pages"},
		{Measure: "memory.reclaim", Why: "when, and how long, its threads had to free memory before they got some"},
	},
	For: []string{
		"decisive: the process took major faults while part of it lay in swap, and as many pages came from swap as it took (pswpin; reading ahead brings up to 8 a fault)",
		"strong: its threads were found waiting for a disk; its control group is at its limit of memory; its threads reclaimed memory themselves for a tenth of a second or more in all",
		"weak: pages go to swap as fast as they come back",
	},
	Against: []string{
		"swap is full and nothing comes back from it: cold pages, a risk at most",
		"strong: major faults without swap: files that are mapped and read again (the page cache is short), or a program that starts",
		"strong: no process that swapped was late",
	},
	LeadsTo: measure.LatencyLeads(suspect.Lead{To: "disk-stall", Lag: measure.FeltWithin}, suspect.Lead{To: "udp-receive-buffer-full", Lag: measure.FeltWithin}, suspect.Lead{To: "listen-overflow", Lag: 2 * measure.FeltWithin}),
	Claims:  []ledger.Account{ledger.Memory, ledger.Disk, ledger.Kernel},
	Remedy: suspect.Remedy{
		Now:         "systemctl set-property --runtime UNIT MemoryMax=BYTES",
		Permanently: "More memory for it (MemoryMax=, MemoryHigh=), less for others. MemorySwapMax=0 where failing is better than being late.",
		Program:     "Keep less in memory.",
	},
	Verified: "pswpin does not grow",
	Next:     "vmstat 1; grep VmSwap /proc/[0-9]*/status | sort -k2 -n | tail; cat /proc/PID/smaps_rollup",
	Weigh:    weighSwap,
}

// swapRate of major faults per second is felt: 20 of 1 to 5 ms each are a tenth of a
// thread's time. A process at rest takes none, one that starts some hundreds once.
const swapRate = 20

// faults of one process: how many, over which time.
type faults struct {
	n, span float64
	swap    *uint64 // bytes of it in swap, at the end
	steps   measure.Steps
}

// faultsOf counts the major faults of a process. False where they were not counted.
func faultsOf(p *scene.Process) (faults, bool) {
	var f faults
	var last *recording.Process
	for i := range p.Rows {
		row := &p.Rows[i]
		if row.Swap != nil {
			f.swap = row.Swap
		}
		if row.MajorFaults == nil {
			continue
		}
		if last != nil && *row.MajorFaults >= *last.MajorFaults {
			n := float64(*row.MajorFaults - *last.MajorFaults)
			f.n += n
			f.span += row.T.Sub(last.T).Seconds()
			f.steps = append(f.steps, measure.Step{Interval: recording.Interval{Start: last.T, End: row.T}, N: n})
		}
		last = row
	}
	return f, f.span >= 2
}

// active is when it faulted at more than half of the rate that is felt.
func (f faults) active() []recording.Interval {
	var fast measure.Steps
	for _, s := range f.steps {
		if s.N >= swapRate/2*s.Length(s.End).Seconds() {
			fast = append(fast, s)
		}
	}
	return fast.Active()
}

// fromSwap is how many pages came from swap in the window.
func fromSwap(r *recording.Recording) (float64, bool) {
	return measure.Grew(r, 0, "node_vmstat_pswpin")
}

// swapsIn reports that a process' waiting for a disk is for its own memory: decisive
// against the disk as the root. Nil where it does not swap.
func swapsIn(r *recording.Recording, p *scene.Process) *suspect.Evidence {
	f, ok := faultsOf(p)
	in, measured := fromSwap(r)
	if !ok || !measured || f.n/f.span < swapRate || f.swap == nil || *f.swap == 0 || in < 0.5*f.n {
		return nil
	}
	return &suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: f.n, Unit: "faults", Source: source.Stat.As("/proc/PID/stat majflt").And(source.VMStat("pswpin")).As("/proc/PID/stat majflt, /proc/vmstat pswpin"), Origin: "swap",
		Text: fmt.Sprintf("it reads its memory back from swap: %s major faults, %s pages came from swap", units.Count(f.n), units.Count(in))}
}

func weighSwap(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	in, ok := fromSwap(r)
	if !ok {
		return nil
	}
	out, _ := measure.Grew(r, 0, "node_vmstat_pswpout")
	var all []suspect.Finding
	for _, p := range s.Processes {
		f, ok := faultsOf(p)
		if !ok || p.Subject.PID == r.Manifest.SelfPID || f.n/f.span < swapRate {
			continue
		}
		all = append(all, f.finding(s, r, p, in, out))
		if len(all) == maxWaits {
			break
		}
	}
	return all
}

func (f faults) finding(s *scene.Scene, r *recording.Recording, p *scene.Process, in, out float64) suspect.Finding {
	name := p.Subject.Name
	one := suspect.Finding{Subject: p.Subject, Active: f.active(),
		Next: fmt.Sprintf("grep -E 'VmRSS|VmSwap' /proc/%d/status; vmstat 1 5", p.Subject.PID)}
	faulted := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: f.n, Unit: "faults", Source: source.Stat.As("/proc/PID/stat majflt"), Origin: "major faults",
		Text: fmt.Sprintf("%s took %s major faults in %s: %s per second (healthy 0)", name, units.Count(f.n), units.Lasting(f.span), units.Count(f.n/f.span))}
	lies := f.swap != nil && *f.swap > 0
	switch {
	case in < 0.1*f.n:
		faulted.Grade = suspect.Weak
		one.Text = fmt.Sprintf("%s took %s major faults, and they were not for swap", name, units.Count(f.n))
		one.Evidence = append(one.Evidence, faulted, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: in, Unit: "pages", Source: source.VMStat("pswpin"), Origin: "swap",
			Text: fmt.Sprintf("%s pages came from swap meanwhile: the faults read files", units.Count(in))})
		return one
	case lies && in >= 0.5*f.n:
		faulted.Grade = suspect.Decisive
		faulted.Text += fmt.Sprintf("; %s of it lie in swap, and %s pages came from swap meanwhile", units.Bytes(float64(*f.swap)), units.Count(in))
		faulted.Source = faulted.Source.As(faulted.Source.String() + ", VmSwap").And(source.VMStat("pswpin"))
	case !lies && f.swap != nil:
		faulted.Grade = suspect.Weak
		one.Evidence = append(one.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Source: source.Of("/proc/PID/status VmSwap"), Origin: "VmSwap", Text: "none of its memory is in swap"})
	}
	one.Evidence = append(one.Evidence, faulted)
	one.Text = fmt.Sprintf("%s reads its memory back from swap: %s major faults in %s", name, units.Count(f.n), units.Lasting(f.span))
	if out > 0 {
		one.Evidence = append(one.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: out, Unit: "pages", Source: source.VMStat("pswpout"), Origin: "swapped out",
			Text: fmt.Sprintf("%s pages went to swap meanwhile, %s came back", units.Count(out), units.Count(in))})
	}
	one.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("More memory, or less of it for others than %s. MemorySwapMax=0 where failing is better than being late.", name), Program: fmt.Sprintf("%s: keep less in memory.", p.Subject.Comm)}
	one.Settings = swapSettings(r, p)
	addMemoryLimit(&one, r, p)
	if e, ok := reclaimed(r, p); ok {
		one.Evidence = append(one.Evidence, e)
	}
	for _, b := range blockedProcesses(s, r, nil) {
		if b.process == p {
			one.Evidence = append(one.Evidence, b.evidence())
		}
	}
	one.Evidence = append(one.Evidence, felt(s, p))
	return one
}

// nearLimit is the share of its limit from which a control group is at it: the
// kernel reclaims before the last page is taken.
const nearLimit = 0.95

// addMemoryLimit adds that the process' control group is at its limit.
func addMemoryLimit(f *suspect.Finding, r *recording.Recording, p *scene.Process) {
	group := p.Last().GroupOf("memory")
	limit, used := measure.MemoryOf(r, p)
	if limit <= 0 || used < nearLimit*limit {
		return
	}
	f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: used, Unit: "bytes", Source: source.Of("memory.current, memory.max of "+group, source.GroupMemory, source.GroupLimit), Origin: "memory limit",
		Text: fmt.Sprintf("its control group %s holds %s of the %s that it may", group, units.Bytes(used), units.Bytes(limit))})
	f.Related = append(f.Related, recording.Subject{Kind: recording.KindCgroup, Cgroup: group})
	need := limit
	if swap := p.Last().Swap; swap != nil {
		need += float64(*swap)
	}
	f.Remedy.Permanently = fmt.Sprintf("MemoryMax=%.0f (now %s) in its unit.", 1.25*need, units.Bytes(limit))
	if free, ok := measure.LastOf(r, "node_memory_MemAvailable_bytes"); ok && 1.25*need-limit <= free && strings.HasSuffix(group, "/"+p.Last().Unit) {
		f.Remedy.Now = remedy.UnitNow(p, "MemoryMax", fmt.Sprintf("%.0f", 1.25*need))
	}
}

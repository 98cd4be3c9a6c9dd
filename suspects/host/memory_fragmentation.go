package host

import (
	"fmt"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var memoryFragmentation = &suspect.Suspect{
	Name:  "memory-fragmentation",
	Title: "free memory is in pieces, and allocations wait until it is put together",
	About: "A fault of a huge page, a network buffer or a stack needs pages in one piece. Where the free ones are scattered the kernel moves others out of the way first (compaction), in the middle of the request, for milliseconds up to seconds. " +
		"MemFree looks fine. A machine that is short of memory and does not compact is another matter.",
	Needs: []suspect.Need{
		{Measure: "host.memory", Must: true, Why: "allocations that had to compact, and that had to reclaim"},
		{Measure: "host.zones", Must: true, Why: "how large the blocks of free memory are"},
		{Measure: "host.pressure", Why: "how much of the time somebody waited for memory"},
		{Measure: "host.cgroup", Why: "which threads waited for memory"},
		{Measure: "memory.compaction", Why: "when, and how long, which thread compacted"},
	},
	For: []string{
		"strong: allocations had to compact memory themselves (compact_stall), 5 per second or more (healthy 0); decisive where half of them did so in vain and the free blocks say the same",
		"strong: a zone has enough free memory, but less than a tenth of it is in blocks of 2 MiB (healthy: more than half)",
		"strong: the control group of a service that is late waited for memory for a tenth of the time or more (healthy 0)",
		"strong: threads of a service that is late compacted memory themselves for a tenth of a second or more in all",
		"weak: compactions that failed, huge pages that were not had (thp_fault_fallback)",
	},
	Against: []string{
		"decisive: nothing was compacted: fragmented memory that no allocation needs whole is a risk at most",
		"decisive: three times as many allocations had to reclaim as to compact, and the free memory is at the watermarks: memory is short, not in pieces",
		"strong: no service that waited for memory was late",
	},
	LeadsTo: measure.LatencyLeads(suspect.Lead{To: "udp-receive-buffer-full", Lag: measure.FeltWithin}, suspect.Lead{To: "listen-overflow", Lag: 2 * measure.FeltWithin}),
	Claims:  []ledger.Account{ledger.Memory, ledger.Kernel},
	Remedy: suspect.Remedy{
		Now:         "echo defer+madvise > /sys/kernel/mm/transparent_hugepage/defrag",
		Permanently: "vm.compaction_proactiveness, vm.watermark_scale_factor and vm.min_free_kbytes (at most 5 % of the smallest node) up, in /etc/sysctl.d. Or huge pages only where asked for (transparent_hugepage/defrag = madvise or defer), in /etc/tmpfiles.d.",
	},
	Verified: "compact_stall does not grow",
	Next:     "grep -E 'compact_|thp_fault|allocstall' /proc/vmstat; cat /proc/buddyinfo; perf record -g -e compaction:* to see who allocates",
	Weigh:    weighFragmentation,
}

const (
	// compactRate of allocations a second that compact: K found one to take 44 ms on a
	// healthy machine and 1,289 ms on a fragmented one; 5 per second are felt.
	compactRate = 5
	// inPieces is the share of free memory in blocks of 2 MiB under which it is in
	// pieces; a machine after months of uptime shows 0.2 to 0.6.
	inPieces = 0.1
	// memoryShare of the time that somebody waited for memory. Healthy: 0.
	memoryShare = 0.1
)

func weighFragmentation(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	stalls, ok := measure.Grew(r, 0, "node_vmstat_compact_stall")
	window := s.Window.Length(s.Window.End).Seconds()
	if !ok || window <= 0 || stalls < compactRate*window/2 {
		return nil
	}
	zones := zonesOf(r)
	if len(zones) == 0 {
		return nil
	}
	z := zones[0] // the one with most free memory: if that is in pieces, all are
	f := suspect.Finding{Subject: z.subject()}
	if series, ok := measure.Counter(r, 0, "node_vmstat_compact_stall"); ok {
		f.Active = measure.StepsOf(series).Active()
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: stalls / window, Unit: "1/s", Source: source.VMStat("compact_stall"), Origin: "compaction",
		Text: fmt.Sprintf("%s allocations had to compact memory themselves, %s per second (healthy 0)", units.Count(stalls), units.Count(stalls/window))}
	if stalls < compactRate*window {
		e.Grade = suspect.Weak
	}
	pieces := z.pieces(r)
	if failed, ok := measure.Grew(r, 0, "node_vmstat_compact_fail"); ok && failed > 0 {
		e.Text += fmt.Sprintf("; %s of them in vain", units.Count(failed))
		if e.Grade == suspect.Strong && failed >= 0.5*stalls && pieces.Side == suspect.For && pieces.Grade == suspect.Strong {
			// The allocator's count and its lists say the same: nothing whole to be had.
			e.Grade = suspect.Decisive
		}
	}
	f.Evidence = append(f.Evidence, e, pieces)
	if lost, ok := measure.Grew(r, 0, "node_vmstat_thp_fault_fallback"); ok && lost > 0 {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: lost, Unit: "faults", Source: source.VMStat("thp_fault_fallback"), Origin: "huge pages",
			Text: fmt.Sprintf("%s faults wanted a huge page and got none", units.Count(lost))})
	}
	f.Evidence = append(f.Evidence, shortOfMemory(r, z, stalls)...)
	addWaiting(&f, s, r, addCompacting(&f, s, r))
	free, _ := z.free()
	f.Text = fmt.Sprintf("allocations had to compact memory %s times; %s are free in %s, in pieces", units.Count(stalls), units.Bytes(free*pageBytes(r)), f.Subject.Name)
	f.Settings = fragmentationSettings(r, stalls)
	f.Remedy = suspect.Remedy{Now: remedy.Now(s, r, f.Settings), Permanently: remedy.Kept(s, r, f.Settings)}
	f.Next = "grep -E 'compact_|thp_fault' /proc/vmstat; cat /proc/buddyinfo /sys/kernel/mm/transparent_hugepage/defrag"
	return []suspect.Finding{f}
}

// pieces is in blocks of which size the zone's free memory is.
func (z zone) pieces(r *recording.Recording) suspect.Evidence {
	free, huge := z.free()
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Source: source.Of("/proc/buddyinfo", source.Ref{Series: "node_buddyinfo_blocks"}), Origin: "free blocks", Unit: "share"}
	if free > 0 {
		e.Value = huge / free
	}
	e.Text = fmt.Sprintf("%s of zone %s of node %s are free, %.1f %% of it in blocks of 2 MiB and more (order 0: %s blocks, order 9 and 10: %s)",
		units.Bytes(free*pageBytes(r)), z.name, z.node, 100*e.Value, units.Count(z.of(0, 0)), units.Count(z.of(hugeOrder, len(z.blocks))))
	switch {
	case free <= 1.2*z.high: // then it is short as well: its pieces say little
		e.Grade = suspect.Weak
	case e.Value >= 0.5:
		e.Side = suspect.Against
	case e.Value >= inPieces:
		e.Grade = suspect.Weak
	}
	return e
}

func (z zone) of(from, to int) float64 {
	n := 0.0
	for order := from; order <= to && order < len(z.blocks); order++ {
		n += z.blocks[order]
	}
	return n
}

// shortOfMemory tells a machine that has too little memory from one that has it
// in pieces.
func shortOfMemory(r *recording.Recording, z zone, compacted float64) []suspect.Evidence {
	reclaimed, ok := sumOf(r, stallsFor...)
	free, _ := z.free()
	if !ok || reclaimed < 3*compacted || z.high == 0 || free > 1.5*z.high {
		return nil
	}
	return []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: reclaimed, Unit: "allocations", Source: source.VMStat("allocstall").As("/proc/vmstat allocstall, /proc/zoneinfo"), Origin: "reclaim",
		Text: fmt.Sprintf("%s allocations had to reclaim memory and %s to compact it, with %s pages free at a watermark of %s: memory is short", units.Count(reclaimed), units.Count(compacted), units.Count(free), units.Count(z.high))}}
}

// addWaiting adds the services that are late and waited for memory. compacting: one is
// known by its own compactions.
func addWaiting(f *suspect.Finding, s *scene.Scene, r *recording.Recording, compacting bool) {
	var late *scene.Process
	worst, where := 0.0, ""
	for _, p := range s.Processes {
		if p.Subject.PID == r.Manifest.SelfPID || lateness(s, p) == nil {
			continue
		}
		if share, from, ok := memoryWait(r, p); ok && share >= memoryShare {
			f.Related = append(f.Related, p.Subject)
			if share > worst {
				late, worst, where = p, share, from
			}
		}
	}
	if late == nil && compacting {
		return
	}
	if late == nil {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Source: source.Of("symptoms"), Origin: "symptoms", Text: "no service that is late waited for memory"})
		return
	}
	f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: worst, Unit: "share", Source: source.Of(where, source.PressureMemory, source.GroupWaitsMemory), Origin: "memory pressure",
		Text: fmt.Sprintf("threads of %s, which is late, or beside it in its control group waited for memory for %.0f %% of the time (healthy 0)", late.Subject.Name, 100*worst)})
}

// compactedFor is how long the threads of a late service compacted, s, for that to be
// felt: a frame of a stream is 0.04 s.
const compactedFor = 0.1

// addCompacting adds whose threads compacted, by the intervals of a millisecond and
// more. When they did is known better from them than from a counter read each second.
func addCompacting(f *suspect.Finding, s *scene.Scene, r *recording.Recording) bool {
	sums, n, longest := map[int]float64{}, map[int]int{}, map[int]float64{}
	var all []recording.Interval
	for _, e := range r.Events {
		if e.Kind != recording.EventCompaction {
			continue
		}
		all = append(all, e.Interval())
		pid := e.Subject.PID
		sums[pid] += e.Value
		n[pid]++
		longest[pid] = max(longest[pid], e.Value)
	}
	if len(all) > 0 {
		f.Active = intervals.Merge(all, measure.Joined)
	}
	var worst *scene.Process
	for _, p := range s.Processes {
		pid := p.Subject.PID
		if pid != r.Manifest.SelfPID && sums[pid] >= compactedFor && lateness(s, p) != nil && (worst == nil || sums[pid] > sums[worst.Subject.PID]) {
			worst = p
		}
	}
	if worst == nil {
		return false
	}
	pid := worst.Subject.PID
	f.Related = append(f.Related, worst.Subject)
	f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: sums[pid], Unit: "s", Source: source.Of("compaction:mm_compaction_begin, mm_compaction_end"), Origin: "compaction intervals",
		Text: fmt.Sprintf("threads of %s, which is late, compacted memory themselves %s, %s in all, %s at the longest", worst.Subject.Name, units.Plural(n[pid], "time"), units.Lasting(sums[pid]), units.Lasting(longest[pid]))})
	return true
}

// smallestNode is the memory of the smallest node, bytes; 0 where it was not read.
func smallestNode(r *recording.Recording) float64 {
	least := 0.0
	for _, n := range nodesOf(r) {
		if least == 0 || n.total < least {
			least = n.total
		}
	}
	return least
}

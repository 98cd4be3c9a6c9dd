package host

import (
	"fmt"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/suspect"
)

// fragmentationSettings: where threads compact for huge pages that nobody asked for,
// they stop doing so; else memory is made whole in the background, ahead of need.
func fragmentationSettings(r *recording.Recording, stalls float64) (set []suspect.Setting) {
	why := fmt.Sprintf("%s allocations compacted memory themselves", units.Count(stalls))
	fallback, _ := measure.Grew(r, 0, "node_vmstat_thp_fault_fallback")
	if v, ok := r.FactOf("transparent_hugepage.defrag", 0); ok && fallback > 0 && (v == "always" || strings.Contains(v, "[always]")) {
		set = append(set, suspect.Setting{Kind: "thp", Name: "defrag", Value: "defer+madvise", Either: "huge",
			Why:  fmt.Sprintf("%s, and %s faults wanted a huge page and got none: only those that ask for one (madvise) shall wait for it", why, units.Count(fallback)),
			Risk: "programs get huge pages later, in the background"})
		return set
	}
	set = append(set, suspect.Setting{Kind: "sysctl", Name: "vm.compaction_proactiveness", AtLeast: true, Value: "50",
		Why: why + ": kcompactd does it ahead of them", Risk: "CPU time of kcompactd"},
		suspect.Setting{Kind: "sysctl", Name: "vm.watermark_scale_factor", AtLeast: true, Value: "100",
			Why: why + ": kswapd and kcompactd begin at 1 % of memory free, in place of 0.1 %", Risk: "that much less for caches"})
	v, ok := measure.Sysctl(r, 0, "vm.min_free_kbytes")
	// All of it is taken from each node alike: a twentieth of the smallest is the most.
	if most := 0.05 * smallestNode(r) / 1024; ok && most > v {
		set = append(set, suspect.Setting{Kind: "sysctl", Name: "vm.min_free_kbytes", AtLeast: true, Value: fmt.Sprintf("%.0f", min(2*v, most)),
			Why:  fmt.Sprintf("%s; twice %s KiB, and no more than a twentieth of the smallest node (%s)", why, units.Count(v), units.Bytes(smallestNode(r))),
			Risk: "that much less for programs"})
	}
	return set
}

// numaSettings: a node that is full must not be reclaimed while another has room, and
// what fills it is spread over all.
func numaSettings(s *scene.Scene, r *recording.Recording, full, spare node) (set []suspect.Setting, calls []suspect.Call) {
	if v, ok := measure.Sysctl(r, 0, "vm.zone_reclaim_mode"); ok && v != 0 {
		set = append(set, suspect.Setting{Kind: "sysctl", Name: "vm.zone_reclaim_mode", Value: "0",
			Why:  fmt.Sprintf("node %s is reclaimed (mode %.0f) while node %s has %s free", full.name, v, spare.name, units.Bytes(spare.free)),
			Risk: "memory of another node is slower to reach"})
	}
	var fills *scene.Process
	for _, p := range s.Processes {
		if rss := p.Last().RSS; rss != nil && float64(*rss) >= 0.3*full.total && (fills == nil || *rss > *fills.Last().RSS) {
			fills = p
		}
	}
	if fills == nil {
		return set, []suspect.Call{{Who: recording.Subject{Name: "you"}, Do: "numactl --interleave=all for what fills node " + full.name + " (numastat -p shows which process has it); NUMAPolicy=interleave in its unit", Why: full.of() + " lie there"}}
	}
	held := units.Bytes(float64(*fills.Last().RSS))
	if unit := fills.Last().Unit; unit != "" {
		return append(set, suspect.Setting{Kind: "unit", Name: "NUMAPolicy", Unit: unit, Value: "interleave",
			Why:   fmt.Sprintf("%s holds %s, and node %s is full while node %s has %s free", fills.Subject.Name, held, full.name, spare.name, units.Bytes(spare.free)),
			Risk:  "half of its memory is another node's, which is slower to reach",
			Needs: "a restart of " + unit + ": what it has stays where it is"}), nil
	}
	return set, []suspect.Call{{Who: suspect.WhoseCall(fills.Subject), Do: "start it with numactl --interleave=all", Why: fmt.Sprintf("it holds %s, most of what fills node %s", held, full.name)}}
}

// swapSettings: a control group at its limit needs a larger one; a host that keeps
// files in memory while programs wait for theirs prefers the files.
func swapSettings(r *recording.Recording, p *scene.Process) (set []suspect.Setting) {
	last := p.Last()
	if limit, used := measure.MemoryOf(r, p); limit > 0 && used >= nearLimit*limit {
		need := limit
		if last.Swap != nil {
			need += float64(*last.Swap)
		}
		if last.Unit == "" {
			return nil
		}
		return []suspect.Setting{{Kind: "unit", Name: "MemoryMax", Unit: last.Unit, Value: fmt.Sprintf("%.0f", 1.25*need),
			Why:  fmt.Sprintf("its control group holds %s of %s, and %s of it lie in swap: a quarter above both", units.Bytes(used), units.Bytes(limit), units.Bytes(need-limit)),
			Risk: "that much less for others"}}
	}
	cached, ok1 := measure.LastOf(r, "node_memory_Cached_bytes")
	shared, ok2 := measure.LastOf(r, "node_memory_Shmem_bytes")
	total, ok3 := measure.LastOf(r, "node_memory_MemTotal_bytes")
	if !ok1 || !ok2 || !ok3 || cached-shared < 0.2*total {
		return nil // no files to drop in place of programs' memory
	}
	return []suspect.Setting{{Kind: "sysctl", Name: "vm.swappiness", Value: "10",
		Why:  fmt.Sprintf("%s waits for pages from swap while %s of files are kept in memory", p.Subject.Name, units.Bytes(cached-shared)),
		Risk: "files are read from the disk again more often"}}
}

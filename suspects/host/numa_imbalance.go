package host

import (
	"fmt"
	"sort"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var numaImbalance = &suspect.Suspect{
	Name:  "numa-imbalance",
	Title: "one NUMA node is full while another has memory free",
	About: "Memory is given from the node that a thread runs on, or is bound to. When that one is full (often of shared memory, which is not given back) the pages come from far away, or the process swaps and reclaims, beside a node that is half empty. " +
		"The machine's MemFree looks fine.",
	Needs: []suspect.Need{
		{Measure: "host.numa", Must: true, Why: "how full each node is, of what, and which pages came from another"},
		{Measure: "host.memory", Must: true, Why: "pages that went to swap and came back"},
		{Measure: "host.zones", Why: "the nodes' watermarks"},
		{Measure: "host.processes", Why: "which process' memory is read back from swap"},
		{Measure: "memory.reclaim", Why: "which threads had to free memory before they got some, when and for how long"},
	},
	For: []string{
		"strong: a node has less than a tenth of its memory free, or no more than its watermarks, another more than a quarter, and what fills it can't be given back",
		"decisive: pages go to swap and come back meanwhile, and no control group of who swaps is at its limit (healthy 0: there is memory free); else strong",
		"decisive: pages that were wanted from the full node came from another: numa_foreign of the one and numa_miss of the others agree (healthy 0)",
		"weak: half of the full node is shared memory; it is bound or reclaimed there first (zone_reclaim_mode)",
	},
	Against: []string{
		"a node that is full of page cache: that is given back when it is wanted, and nothing came from elsewhere",
		"other_node grows without numa_miss: a policy that spreads (interleave), or threads that moved",
		"strong: no service that is late swapped or waited for memory",
	},
	LeadsTo: measure.LatencyLeads(suspect.Lead{To: "swap", Lag: measure.FeltWithin}),
	Remedy: suspect.Remedy{
		Now:         "sysctl -w vm.zone_reclaim_mode=0",
		Permanently: "NUMAPolicy=interleave (numactl --interleave=all) for what fills the node, vm.zone_reclaim_mode = 0 in /etc/sysctl.d, a wider NUMAMask= for the service.",
	},
	Verified: "numa_miss and pswpin do not grow",
	Next:     "numastat -m; numastat -p PID; grep -E 'numa_|pswp' /proc/vmstat",
	Weigh:    weighNUMA,
}

// Full and free: a node with a tenth of its memory free that swaps, or sends who
// asks elsewhere, is at the kernel's watermarks (a node of 750 MiB does at 0.07, a
// large one at 0.02); where these were read, one at half as much again as the high
// ones, up to which kswapd reclaims, is as well, however much that is of a small
// node. One with a quarter free could have helped.
const (
	nodeFull  = 0.1
	nodeSpare = 0.25
	atHigh    = 1.5
	// pinnedShare of a full node that is memory which is not given back.
	pinnedShare = 0.3
	// missRate of pages per second from the wrong node: healthy 0; 100 are 0.4 MB/s.
	missRate = 100
)

// node is one NUMA node, bytes at the end of the window, pages over it.
type node struct {
	name                       string
	total, free, shared, cache float64
	anonymous, locked          float64
	missed, foreign            float64 // pages given that others wanted elsewhere; wanted here, given elsewhere
	counted                    bool
	high                       float64 // bytes under which it is reclaimed; 0 not known
}

func (n node) freeShare() float64 { return n.free / n.total }

func (n node) full() bool { return n.freeShare() <= nodeFull || n.free <= atHigh*n.high }

// kept is what can't be given back without swap.
func (n node) kept() float64 { return (n.shared + n.anonymous + n.locked) / n.total }

// nodesOf are the nodes with memory, the fullest first.
func nodesOf(r *recording.Recording) []node {
	var out []node
	for _, s := range r.Select("node_memory_numa_MemTotal") {
		n := node{name: s.Labels["node"]}
		last := func(field string) float64 {
			for _, s := range r.Select("node_memory_numa_"+field, "node", n.name) {
				v, _ := s.Last()
				return v
			}
			return 0
		}
		n.total, _ = s.Last()
		if n.total <= 0 {
			continue
		}
		n.free, n.shared, n.cache, n.anonymous, n.locked = last("MemFree"), last("Shmem"), last("FilePages"), last("AnonPages"), last("Mlocked")
		if n.locked > 0 {
			// What is locked is counted as what it is besides.
			n.locked = max(0, n.locked-n.shared-n.anonymous)
		}
		for _, s := range r.Select("node_memory_numa_numa_miss_total", "node", n.name) {
			n.missed, n.counted = s.Increase()
		}
		for _, s := range r.Select("node_memory_numa_numa_foreign_total", "node", n.name) {
			n.foreign, _ = s.Increase()
		}
		for _, s := range r.Select("node_zoneinfo_high_pages", "node", n.name) {
			high, _ := s.Last()
			n.high += high * pageBytes(r)
		}
		out = append(out, n)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].freeShare() < out[j].freeShare() })
	return out
}

func weighNUMA(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	nodes := nodesOf(r)
	if len(nodes) < 2 {
		return nil // it has one
	}
	full, spare := nodes[0], nodes[len(nodes)-1]
	if !full.full() || spare.freeShare() < nodeSpare {
		return nil
	}
	window := s.Window.Length(s.Window.End).Seconds()
	f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindMemory, Name: "node " + full.name},
		Next: "numastat -m; grep -E 'pswp|numa_' /proc/vmstat; cat /proc/sys/vm/zone_reclaim_mode"}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: full.freeShare(), Unit: "share", Source: source.Of("/sys/devices/system/node/node"+full.name+"/meminfo", source.Ref{Series: "node_memory_numa_MemFree"}), Origin: "nodes' meminfo",
		Text: fmt.Sprintf("node %s has %s of %s free (%.0f %%), node %s %s of %s (%.0f %%)", full.name, units.Bytes(full.free), units.Bytes(full.total), 100*full.freeShare(),
			spare.name, units.Bytes(spare.free), units.Bytes(spare.total), 100*spare.freeShare())}
	if full.kept() < pinnedShare {
		e.Grade = suspect.Weak
		e.Text += fmt.Sprintf("; %s of it are page cache, which is given back", units.Bytes(full.cache-full.shared))
	}
	f.Evidence = append(f.Evidence, e)
	if full.shared >= 0.3*full.total {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: full.shared / full.total, Unit: "share", Source: source.Of("node" + full.name + "/meminfo Shmem"), Origin: "nodes' meminfo",
			Text: fmt.Sprintf("%s of node %s are shared memory, which only swap gives back", units.Bytes(full.shared), full.name)})
	}
	acts := addMisses(&f, r, nodes, full, window)
	acts = addSwap(&f, s, r, full, spare, window) || acts
	if !acts {
		return nil // an uneven host that nobody asks for more
	}
	addSwapped(&f, s, r)
	f.Text = fmt.Sprintf("node %s is full (%s) while node %s has %s free", full.name, full.of(), spare.name, units.Bytes(spare.free))
	f.Settings, f.Calls = numaSettings(s, r, full, spare)
	f.Remedy = suspect.Remedy{Now: remedy.Now(s, r, f.Settings), Permanently: remedy.Kept(s, r, f.Settings)}
	if len(f.Calls) > 0 {
		f.Remedy.Permanently = remedy.Join(f.Remedy.Permanently, "NUMAPolicy=interleave in the unit of what fills node "+full.name+" (numactl --interleave=all).")
	}
	if v, ok := measure.Sysctl(r, 0, "vm.zone_reclaim_mode"); ok && v != 0 {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: v, Source: source.Of("vm.zone_reclaim_mode"), Origin: "zone_reclaim_mode",
			Text: fmt.Sprintf("vm.zone_reclaim_mode is %.0f: a node is reclaimed before another is asked", v)})
	}
	return []suspect.Finding{f}
}

// of is what most of the node is.
func (n node) of() string {
	switch {
	case n.shared >= n.anonymous && n.shared >= n.cache-n.shared:
		return units.Bytes(n.shared) + " of shared memory"
	case n.anonymous >= n.cache-n.shared:
		return units.Bytes(n.anonymous) + " of processes' memory"
	}
	return units.Bytes(n.cache-n.shared) + " of page cache"
}

// addMisses adds pages that were wanted from the full node and came from others.
func addMisses(f *suspect.Finding, r *recording.Recording, nodes []node, full node, window float64) bool {
	missed := 0.0
	for _, n := range nodes {
		if !n.counted {
			return false
		}
		if n.name != full.name {
			missed += n.missed
		}
	}
	if full.foreign < missRate*window {
		return false
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: full.foreign, Unit: "pages", Source: source.Of("numastat numa_foreign, numa_miss", source.Ref{Series: "node_memory_numa_foreign_total"}, source.Ref{Series: "node_memory_numa_miss_total"}), Origin: "numastat",
		Text: fmt.Sprintf("%s pages were wanted from node %s and came from another (healthy 0)", units.Count(full.foreign), full.name)}
	if measure.Agree(full.foreign, missed) {
		e.Grade = suspect.Decisive
		e.Text += fmt.Sprintf("; the others gave %s that were not wanted from them", units.Count(missed))
	}
	f.Evidence = append(f.Evidence, e)
	f.Active = missedWhen(r, full.name)
	return true
}

// missedWhen is when pages were wanted from a node and came from another, fast enough to
// be felt.
func missedWhen(r *recording.Recording, node string) []recording.Interval {
	var fast measure.Steps
	for _, s := range r.Select("node_memory_numa_numa_foreign_total", "node", node) {
		for _, grown := range measure.StepsOf(s) {
			if grown.N >= missRate*grown.Length(grown.End).Seconds() {
				fast = append(fast, grown)
			}
		}
	}
	return fast.Active()
}

// addSwap adds that pages went to swap though there is memory free.
// The kernel swaps beside free memory where a node is short, or a control group.
func addSwap(f *suspect.Finding, sc *scene.Scene, r *recording.Recording, full, spare node, window float64) bool {
	out, ok := measure.Grew(r, 0, "node_vmstat_pswpout")
	in, _ := fromSwap(r)
	if !ok || out+in < missRate*window {
		return false
	}
	if s, ok := measure.Counter(r, 0, "node_vmstat_pswpout"); ok {
		f.Active = intervals.Merge(append(f.Active, measure.StepsOf(s).Active()...), measure.Joined)
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: out, Unit: "pages", Source: source.VMStat("pswpout", "pswpin"), Origin: "swapped",
		Text: fmt.Sprintf("%s pages went to swap and %s came back, with %s free on node %s", units.Count(out), units.Count(in), units.Bytes(spare.free), spare.name)}
	if full.kept() >= pinnedShare && !limited(sc, r) {
		e.Grade = suspect.Decisive
		e.Text += "; no control group of who swaps is at its own limit"
	}
	f.Evidence = append(f.Evidence, e)
	return true
}

// limited reports whether a process that swaps is in a control group that is at its
// limit of memory: then that is why.
func limited(s *scene.Scene, r *recording.Recording) bool {
	for _, p := range s.Processes {
		if n, ok := faultsOf(p); !ok || n.n/n.span < swapRate {
			continue
		}
		if limit, used := measure.MemoryOf(r, p); limit > 0 && used >= nearLimit*limit {
			return true
		}
	}
	return false
}

// addSwapped adds who reads its memory back, and whether anybody felt it.
func addSwapped(f *suspect.Finding, s *scene.Scene, r *recording.Recording) {
	late := false
	for _, p := range s.Processes {
		n, ok := faultsOf(p)
		share, _, waited := memoryWait(r, p)
		suffers := ok && n.n/n.span >= swapRate && n.swap != nil && *n.swap > 0 || waited && share >= memoryShare && lateness(s, p) != nil
		if !suffers || p.Subject.PID == r.Manifest.SelfPID {
			continue
		}
		f.Related = append(f.Related, p.Subject)
		if lateness(s, p) == nil {
			continue
		}
		if e, ok := reclaimed(r, p); ok && !late {
			f.Evidence = append(f.Evidence, e)
		}
		late = true
	}
	if !late {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Source: source.Of("symptoms"), Origin: "symptoms", Text: "no service that is late swapped or waited for memory"})
	}
}

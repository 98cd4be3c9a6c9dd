package host

import (
	"fmt"
	"sort"
	"strconv"

	"snag/recording"
	"snag/scene"
)

// zone is a part of the machine's memory, as the page allocator sees it.
type zone struct {
	node, name string
	blocks     []float64 // free blocks of 2^order pages, by order, at the end
	high       float64   // pages under which the kernel begins to reclaim; 0 not known
}

// hugeOrder is the order of a huge page of 2 MiB in pages of 4 KiB: what a fault
// of a transparent huge page wants.
const hugeOrder = 9

// free is how many pages are free, and how many of them lie in blocks of a huge
// page and more.
func (z zone) free() (pages, huge float64) {
	for order, n := range z.blocks {
		size := float64(uint64(1) << order)
		pages += n * size
		if order >= hugeOrder {
			huge += n * size
		}
	}
	return pages, huge
}

func (z zone) subject() recording.Subject {
	return recording.Subject{Kind: recording.KindMemory, Name: fmt.Sprintf("node %s, zone %s", z.node, z.name)}
}

// zonesOf are the zones, the ones with most free memory first.
func zonesOf(r *recording.Recording) []zone {
	type key struct{ node, name string }
	all := map[key]*zone{}
	for _, s := range r.Select("node_buddyinfo_blocks") {
		order, err := strconv.Atoi(s.Labels["size"])
		v, ok := s.Last()
		if err != nil || !ok || order < 0 || order > 20 {
			continue
		}
		k := key{s.Labels["node"], s.Labels["zone"]}
		if all[k] == nil {
			all[k] = &zone{node: k.node, name: k.name}
		}
		for len(all[k].blocks) <= order {
			all[k].blocks = append(all[k].blocks, 0)
		}
		all[k].blocks[order] = v
	}
	var out []zone
	for k, z := range all {
		for _, s := range r.Select("node_zoneinfo_high_pages", "node", k.node, "zone", k.name) {
			z.high, _ = s.Last()
		}
		out = append(out, *z)
	}
	sort.Slice(out, func(i, j int) bool {
		a, _ := out[i].free()
		b, _ := out[j].free()
		if a != b {
			return a > b
		}
		return out[i].node+out[i].name < out[j].node+out[j].name
	})
	return out
}

// pageBytes is the size of a page.
func pageBytes(r *recording.Recording) float64 {
	if r.Manifest.PageSize > 0 {
		return float64(r.Manifest.PageSize)
	}
	return 4096
}

// sumOf is the growth of all series of some names; false where none was measured.
func sumOf(r *recording.Recording, names ...string) (sum float64, measured bool) {
	for _, name := range names {
		for _, s := range r.Select(name) {
			if n, ok := s.Increase(); ok {
				sum, measured = sum+n, true
			}
		}
	}
	return sum, measured
}

// stallsFor are the names of allocstall, which has one for each zone since 4.10.
var stallsFor = []string{"node_vmstat_allocstall", "node_vmstat_allocstall_dma", "node_vmstat_allocstall_dma32", "node_vmstat_allocstall_normal", "node_vmstat_allocstall_movable"}

// memoryWait is how much of the time the process' control group waited for memory
// (reclaim, compaction, swap), and where that is told. The root group is the machine.
func memoryWait(r *recording.Recording, p *scene.Process) (share float64, source string, ok bool) {
	group := p.Last().GroupOf("unified")
	if group != "" && group != "/" {
		share, ok = shareOfWindow(r, "snag_cgroup_pressure_memory_waiting_seconds_total", "cgroup", group)
		return share, "memory.pressure of " + group, ok
	}
	share, ok = shareOfWindow(r, "node_pressure_memory_waiting_seconds_total")
	return share, "/proc/pressure/memory", ok
}

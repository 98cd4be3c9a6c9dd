package baseline

import "snag/recording"

// ram is the memory chart as Netdata makes it of /proc/meminfo
// (src/collectors/proc.plugin/proc_meminfo.c): cached takes in what can be
// reclaimed and leaves out shared memory. False where it was not recorded.
func ram(r *recording.Recording, end recording.Time) (used, all float64, ok bool) {
	get := func(field string) float64 {
		v, seen := gauge(r, end, "node_memory_"+field+"_bytes")
		ok = ok && seen
		return v
	}
	ok = true
	all = get("MemTotal")
	cached := get("Cached") + get("SReclaimable") - get("Shmem")
	used = all - get("MemFree") - cached - get("Buffers")
	return used, all, ok && all > 0
}

func ramInUse(r *recording.Recording, end recording.Time) []reading {
	used, all, ok := ram(r, end)
	if !ok {
		return nil
	}
	return one("memory in use", 100*used/all)
}

func ramAvailable(r *recording.Recording, end recording.Time) []reading {
	all, _ := gauge(r, end, "node_memory_MemTotal_bytes")
	return ratio(r, end, "node_memory_MemAvailable_bytes", all)
}

func usedSwap(r *recording.Recording, end recording.Time) []reading {
	all, ok := gauge(r, end, "node_memory_SwapTotal_bytes")
	free, seen := gauge(r, end, "node_memory_SwapFree_bytes")
	if !ok || !seen || all <= 0 {
		return nil
	}
	return one("swap", 100*(all-free)/all)
}

// swappedOut is what was swapped out in 30 minutes as percent of the memory.
func swappedOut(r *recording.Recording, end recording.Time) []reading {
	_, all, ok := ram(r, end)
	if !ok {
		return nil
	}
	for _, s := range r.Select("node_vmstat_pswpout") {
		if v, ok := rate(s, end, 30*minute); ok {
			return one(s.Name, 100*v*1800*float64(r.Manifest.PageSize)/all)
		}
	}
	return nil
}

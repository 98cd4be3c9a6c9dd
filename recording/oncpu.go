package recording

// BusyEvent reports whether an event counts as long as a CPU runs and not while it
// is idle: its samples stand for busy time. The names are those of perf list;
// "samples" are of files that do not say what was counted.
func BusyEvent(event string) bool {
	switch event {
	case "cycles", "cpu-cycles", "ref-cycles", "bus-cycles", "cpu/cycles/", "cpu_core/cycles/", "cpu_atom/cycles/", "armv8_pmuv3/cycles/", "samples":
		return true
	}
	return false
}

// Ran are the rows of OnCPU that say what ran: those of time or, where that was not
// sampled, of the busy event that has most samples. Page faults and other events
// have samples as well, and say nothing of time.
func (r *Recording) Ran() []OnCPU {
	n := map[string]uint64{}
	for _, row := range r.OnCPU {
		if row.Event == "" || BusyEvent(row.Event) {
			n[row.Event] += row.N
		}
	}
	best, any := "", n[""] > 0
	for event, m := range n {
		if n[""] == 0 && (!any || m > n[best] || m == n[best] && event < best) {
			best, any = event, true
		}
	}
	var out []OnCPU
	for _, row := range r.OnCPU {
		if any && row.Event == best {
			out = append(out, row)
		}
	}
	return out
}

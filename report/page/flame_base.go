package page

import "strings"

// compare tells what share each node of a flame had in the profile of another
// recording: 0 where it was not there. Processes are matched by name, as pids differ,
// those of one name in the order of their weight.
func compare(f *Flame, order []*flameNode, before *flameNode) {
	if before == nil || before.value <= 0 {
		return
	}
	was := map[*flameNode]*flameNode{order[0]: before}
	processes := map[string][]*flameNode{}
	for _, k := range heaviest(before) {
		name := unnumbered(k.frame.name)
		processes[name] = append(processes[name], k)
	}
	f.Before = make([]float64, len(order))
	for i, n := range order {
		if p := f.Parent[i]; p == 0 && n.frame.kind == frameProcess {
			name := unnumbered(n.frame.name)
			if all := processes[name]; len(all) > 0 {
				was[n], processes[name] = all[0], all[1:]
			}
		} else if p >= 0 && was[order[p]] != nil {
			was[n] = was[order[p]].kids[n.frame]
		}
		if w := was[n]; w != nil {
			f.Before[i] = round(w.value / before.value)
		}
	}
}

// unnumbered is a process' name without its pid.
func unnumbered(name string) string {
	if i := strings.LastIndexByte(name, '['); i > 0 {
		return name[:i]
	}
	return name
}

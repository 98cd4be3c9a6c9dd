package page

import (
	"strings"

	"snag/report/profile"
)

// compare reports what share each node of a flame had in the profile of another
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

// missing is how much of the baseline's profile lies in stacks that are not here.
func missing(before, now *flameNode) float64 {
	if now.value <= 0 {
		return 0
	}
	here := map[string]*flameNode{}
	for _, k := range heaviest(now) {
		if name := unnumbered(k.frame.name); here[name] == nil {
			here[name] = k
		}
	}
	away := 0.0
	var walk func(before, now *flameNode)
	walk = func(before, now *flameNode) {
		for f, k := range before.kids {
			if of := now.kids[f]; of != nil {
				walk(k, of)
			} else {
				away += k.value
			}
		}
	}
	for f, k := range before.kids {
		of := now.kids[f]
		if f.kind == frameProcess {
			of = here[unnumbered(f.name)]
		}
		if of == nil {
			away += k.value
			continue
		}
		walk(k, of)
	}
	return away
}

// chance are the nodes of a flame whose share differs from the baseline's by no more
// than chance does.
func (b *builder) chance(f *Flame, event string) []int {
	if len(f.Before) == 0 || f.Value[0] <= 0 {
		return nil
	}
	here, there := profile.Looks(b.r, event), profile.Looks(b.r.Baseline, event)
	var out []int
	for i := 1; i < len(f.Value); i++ {
		if profile.ByChance(f.Before[i], there, f.Value[i]/f.Value[0], here, len(f.Value)) {
			out = append(out, i)
		}
	}
	return out
}

func joinNotes(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

package profile

import (
	"cmp"

	"snag/internal/sorting"
	"snag/recording"
)

// Heaviest are the functions that took most, as Top has them, of the first event and all processes.
// It takes memory for the functions, and none for the samples: whoever only wants a few lines of a
// large file need not hold its profile.
func Heaviest(r *recording.Recording, most int) (lines []Line, total float64, samples uint64, event string) {
	event = eventOf(r, "")
	p := &Profile{Event: event, Unit: UnitOf(r, event)}
	by := map[int]float64{}
	for i := range r.OnCPU {
		if row := &r.OnCPU[i]; row.Event == event {
			v := p.valueOf(*row)
			by[row.Stack] += v
			total, samples = total+v, samples+row.N
		}
	}
	type counted struct {
		Line
		last int // the stack that it was counted in last: a function may call itself
	}
	all := map[Frame]*counted{}
	for i := range r.Stacks {
		st := &r.Stacks[i]
		v := by[st.ID]
		if v == 0 {
			continue
		}
		for at, name := range st.Frames {
			f := Frame{Function: name, Kernel: st.Kernel < 0 || at < st.Kernel}
			if at < len(st.Objects) {
				f.Object = st.Objects[at]
			}
			l := all[f]
			if l == nil {
				l = &counted{Line: Line{Function: name, Object: f.Object}}
				if f.Kernel {
					l.Object = "kernel"
				}
				all[f] = l
			}
			if at == 0 {
				l.Self += v
			}
			if l.last != i+1 {
				l.Total, l.last = l.Total+v, i+1
			}
		}
	}
	for _, l := range all {
		lines = append(lines, l.Line)
	}
	sorting.By(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Object, b.Object))
	})
	return lines[:min(most, len(lines))], total, samples, event
}

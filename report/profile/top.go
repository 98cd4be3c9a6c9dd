package profile

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"snag/internal/sorting"
)

// Line is one function of the table.
type Line struct {
	Function string
	Object   string  // "" not known; "kernel"
	Self     float64 // in it, in the profile's Unit
	Total    float64 // in it and in what it called
	Thread   string  // the thread that spent most of it, or "8 threads"
	Reason   string  // of OffCPU: what most of its own waits were for
}

// Table is the profile by function, and how much of it can be trusted.
type Table struct {
	Lines []Line
	Left  int     // lines that were left out
	Total float64 // in the profile's Unit
	// Shares of Total: without a stack; with one that ends early; whose innermost
	// frame has no name. Frames is the share of all frames that have one.
	NoStack, Cut, Nameless, Frames float64
	// CutIn is the object in which most of the cut stacks end.
	CutIn string
}

// noStack stands for the function of samples without a stack.
var noStack = Frame{Function: "[no stack]"}

type tally struct {
	Line
	threads map[string]float64
	reasons map[string]float64
}

// Top are the functions that took most, by their own time, then by that of what
// they called. Of the time off the CPU a function's own time is what passed while
// it, as the innermost of the process' own, waited in the kernel.
func (p *Profile) Top(most int) Table {
	var t Table
	all := map[Frame]*tally{}
	cutIn := map[string]float64{}
	frames, named := 0.0, 0.0
	for i := range p.Samples {
		s := &p.Samples[i]
		t.Total += s.Value
		if len(s.Frames) == 0 {
			t.NoStack += s.Value
			l := all[noStack]
			if l == nil {
				l = &tally{Line: Line{Function: noStack.Function}, threads: map[string]float64{}, reasons: map[string]float64{}}
				all[noStack] = l
			}
			l.Self, l.Total = l.Self+s.Value, l.Total+s.Value
			l.threads[s.who()] += s.Value
			l.reasons[s.Reason] += s.Value
			continue
		}
		if s.Cut != "" {
			t.Cut += s.Value
			cutIn[s.Frames[len(s.Frames)-1].Object] += s.Value
		}
		inner := 0
		if p.Kind == OffCPU && s.Kernel < len(s.Frames) {
			inner = s.Kernel
		}
		if !Named(s.Frames[inner]) {
			t.Nameless += s.Value
		}
		seen := map[Frame]bool{}
		for j, f := range s.Frames {
			frames += s.Value
			if Named(f) {
				named += s.Value
			}
			// What the kernel did to have the thread wait is told by the reason.
			if seen[f] && j != inner || p.Kind == OffCPU && j < inner {
				continue
			}
			l := all[f]
			if l == nil {
				l = &tally{Line: Line{Function: f.Function, Object: f.where()}, threads: map[string]float64{}, reasons: map[string]float64{}}
				all[f] = l
			}
			if !seen[f] {
				l.Total += s.Value
				l.threads[s.who()] += s.Value
			}
			if j == inner {
				l.Self += s.Value
				l.reasons[s.Reason] += s.Value
			}
			seen[f] = true
		}
	}
	for _, l := range all {
		l.Thread, l.Reason = most1(l.threads), most1(l.reasons)
		t.Lines = append(t.Lines, l.Line)
	}
	sorting.By(t.Lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Object, b.Object))
	})
	t.Left = max(0, len(t.Lines)-most)
	t.Lines = t.Lines[:min(len(t.Lines), most)]
	t.CutIn = most1(cutIn)
	if frames > 0 {
		t.Frames = named / frames
	}
	if t.Total > 0 {
		t.NoStack, t.Cut, t.Nameless = t.NoStack/t.Total, t.Cut/t.Total, t.Nameless/t.Total
	}
	return t
}

// Named reports whether a frame has a name: one without is "OBJECT+0xOFFSET", or an
// address; of others' files "[OBJECT]", or "[unknown]".
func Named(f Frame) bool {
	if strings.HasPrefix(f.Function, "[") { // a file's name stands for its functions
		return f.Function != "[unknown]" && f.Function != "["+path.Base(f.Object)+"]" && f.Function != f.Object
	}
	return !strings.HasPrefix(f.Function, "0x") && !strings.Contains(f.Function, "+0x")
}

func (f Frame) where() string {
	if f.Kernel {
		return "kernel"
	}
	return f.Object
}

// who is the thread of a sample, by name: the workers of a pool share one.
func (s *Sample) who() string {
	if s.Thread == s.Process {
		return s.owner()
	}
	return s.owner() + " " + s.Thread
}

// most1 is the key with the greatest value, the first by name of equal ones.
func most1(of map[string]float64) string {
	best, n := "", -1.0
	for k, v := range of {
		if v > n || v == n && k < best {
			best, n = k, v
		}
	}
	return best
}

// percent prints a share of a whole.
func percent(part, whole float64) string {
	if whole <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*part/whole)
}

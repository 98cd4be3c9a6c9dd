package perf

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"snag/internal/kernel"
	"snag/recording"
)

// stack is one that samples were taken of.
type stack struct {
	hash    uint64 // of its frames
	pinned  bool   // its number is in rows that were written, or is waited for
	id      int
	frames  []int32 // innermost first; the last may be others
	n       uint64  // samples
	row     int32   // where it was counted last
	path    int32   // through the kernel; 0: none
	idle    bool
	light   bool // only the function that ran is told of it
	deep    bool // it was cut
	named   uint64
	unnamed []unnamed
}

// others stands for the callers that are not told.
const others = -1

// otherCallers is its name.
const otherCallers = "[other]"

// shortKey are the stacks that are one where there are too many different ones: those
// of the same function, and of the same path through the kernel.
type shortKey struct{ leaf, path int32 }

// stackOf is the stack of these frames, the innermost first; nil: there are none, or
// too many even of short ones.
func (t *tally) stackOf(frames []int32) *stack {
	if len(frames) == 0 {
		return nil
	}
	deep := len(frames) > mostDepth
	frames = frames[:min(len(frames), mostDepth)]
	t.key = t.key[:0]
	for _, id := range frames {
		t.key = binary.LittleEndian.AppendUint32(t.key, uint32(id))
	}
	if deep {
		t.key = append(t.key, 1)
	}
	h := maphash.Bytes(seed, t.key)
	if n, ok := t.stacks[h]; ok {
		return t.order[n-1]
	}
	if len(t.stacks) >= mostStacks && !t.pinned {
		t.thin()
	}
	s := t.describe(frames)
	if len(t.stacks) >= mostStacks || len(t.order) >= mostNumbered && len(t.free) == 0 {
		return t.shortOf(s.path, frames[0])
	}
	s.deep, s.frames, s.hash = deep, slices.Clone(frames), h
	t.stacks[h] = int32(t.numbered(s).id)
	return s
}

func (t *tally) numbered(s *stack) *stack {
	if n := len(t.free); n > 0 {
		s.id = int(t.free[n-1])
		t.free = t.free[:n-1]
		t.order[s.id-1] = s
		return s
	}
	t.order = append(t.order, s)
	s.id = len(t.order)
	return s
}

// shortOf is the stack that stands for all others of that function and path; nil: there
// are too many of these as well.
func (t *tally) shortOf(path, leaf int32) *stack {
	k := shortKey{leaf, path}
	if one := t.short[k]; one != nil {
		return one
	}
	if len(t.short) >= mostStacks {
		return nil
	}
	one := t.describe([]int32{leaf})
	one.frames, one.path, one.pinned = []int32{leaf, others}, path, true
	t.short[k] = one
	return t.numbered(one)
}

// describe tells of a stack what is counted by it.
func (t *tally) describe(frames []int32) *stack {
	s := &stack{}
	t.ran = t.ran[:0]
	for i, id := range frames {
		f := &t.frames[id]
		if f.kernel && len(t.ran) == i {
			t.ran = append(t.ran, t.nameOf(id))
		}
		if f.named {
			s.named++
		} else {
			s.lacks(t.unnamedOf(f))
		}
	}
	if len(t.ran) > 0 && t.frames[frames[0]].named {
		s.path = t.pathTo(kernel.Path(t.ran))
		s.idle = idles(t.ran)
	}
	return s
}

// pathTo is the number of a path through the kernel; 0: there are too many.
func (t *tally) pathTo(function, caller string) int32 {
	k := kernelPath{function, caller}
	n, ok := t.paths[k]
	if !ok && function != "" && len(t.pathOf) < mostThreads {
		t.pathOf = append(t.pathOf, k)
		n = int32(len(t.pathOf))
		t.paths[k] = n
	}
	return n
}

// nameOf is the function of a frame; of one over the bound of frames it is not known.
func (t *tally) nameOf(id int32) string {
	if id <= 0 {
		return otherCallers
	}
	return t.frames[id].function
}

// writeStacks writes the table of stacks. Where their names are more than a recording
// should hold, those of the fewest samples are written short: what ran is told of all
// samples, and nothing is lost but rare callers.
func (t *tally) writeStacks() {
	byWeight := slices.DeleteFunc(slices.Clone(t.order), func(s *stack) bool { return s == nil || s.n == 0 }) // not of idle CPUs
	slices.SortStableFunc(byWeight, func(a, b *stack) int { return cmp.Compare(b.n, a.n) })
	written := 0
	for _, s := range byWeight {
		if len(s.frames) > 2 && written > mostWritten {
			s.frames = []int32{s.frames[0], others}
		}
		for _, id := range s.frames {
			if id > 0 {
				written += len(t.frames[id].function) + len(t.frames[id].object)
			}
		}
		if s.frames[len(s.frames)-1] == others {
			t.shortened += s.n
		}
	}
	slices.SortFunc(byWeight, func(a, b *stack) int { return cmp.Compare(a.id, b.id) })
	for _, s := range byWeight {
		t.out.Append(t.row(s))
	}
}

func (t *tally) row(s *stack) recording.Stack {
	row := recording.Stack{ID: s.id, Frames: make([]string, len(s.frames)), Objects: make([]string, len(s.frames))}
	for i, id := range s.frames {
		row.Frames[i] = t.nameOf(id)
		if id <= 0 {
			continue
		}
		f := &t.frames[id]
		row.Objects[i] = f.object
		if f.kernel && row.Kernel == i {
			row.Kernel++
		}
	}
	if row.Kernel == len(row.Frames) {
		row.Kernel, row.Objects = -1, nil
	}
	return row
}

// unnamed are a stack's frames without a name in one object, and the count of all
// such frames there.
type unnamed struct {
	all    *uint64
	frames uint64
}

// lacks notes a frame without a name.
func (s *stack) lacks(all *uint64) {
	for i := range s.unnamed {
		if u := &s.unnamed[i]; u.all == all || i == mostObjects-1 {
			u.frames++
			return
		}
	}
	s.unnamed = append(s.unnamed, unnamed{all, 1})
}

// unnamedOf is the count of frames without a name in a frame's object.
func (t *tally) unnamedOf(f *frame) *uint64 {
	object := f.object
	if f.kernel {
		object = "the kernel"
	}
	n := t.unnamedIn[object]
	if n == nil {
		n = new(uint64)
		t.unnamedIn[object] = n
	}
	return n
}

// idleFunctions are what a CPU runs that has nothing to do (drivers/idle,
// drivers/cpuidle, arch/*/kernel/process.c).
var idleFunctions = []string{
	"native_safe_halt", "pv_native_safe_halt", "default_idle", "default_idle_call", "arch_cpu_idle", "mwait_idle", "mwait_idle_with_hints.constprop.0", "acpi_idle_do_entry", "acpi_safe_halt",
	"acpi_idle_enter", "intel_idle", "intel_idle_irq", "intel_idle_ibrs", "intel_idle_xstate", "cpu_do_idle", "psci_enter_idle_state", "poll_idle", "haltpoll_idle", "cpuidle_enter_state", "cpuidle_enter",
	"do_idle", "cpu_startup_entry", "cpu_idle_poll", "cpu_idle_poll.isra.0", "native_irq_disable", "sched_cpu_idle",
}

// idles tells the stack of an idle CPU. One on which an interrupt came has other
// functions on top.
func idles(frames []string) bool { return slices.Contains(idleFunctions, frames[0]) }

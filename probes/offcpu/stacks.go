package offcpu

import (
	"path"
	"strings"

	"snag/probes/probe"
	"snag/probes/symbols"
)

// noStack is NO_STACK of tables.h.
const noStack = -1

// pair is a stack of the kernel and one of its process, as the kernel's map has them.
type pair struct {
	pid            int
	kernel, thread int32
}

// stacks names the kernel's stacks, each once. An id stands for the same addresses
// for as long as the programs are loaded.
type stacks struct {
	read      func(id int32) []uint64
	names     *symbols.Resolver
	table     *probe.Stacks
	ids       map[pair]int
	functions map[int32][]string
}

// mostPairs are remembered; then all are named anew.
const mostPairs = 1 << 15

func newStacks(read func(int32) []uint64, names *symbols.Resolver, table *probe.Stacks) *stacks {
	return &stacks{read: read, names: names, table: table, ids: map[pair]int{}, functions: map[int32][]string{}}
}

// id is the stack's in the recording; 0 where neither was taken.
func (s *stacks) id(pid int, kernel, thread int32) int {
	if kernel < 0 && thread < 0 {
		return 0
	}
	p := pair{pid, kernel, thread}
	if id, ok := s.ids[p]; ok {
		return id
	}
	if len(s.ids) >= mostPairs {
		clear(s.ids)
	}
	id := s.table.ID(s.names.Stack(pid, s.read(kernel), s.read(thread)))
	s.ids[p] = id
	return id
}

// kernel are the kernel's functions of a stack, innermost first.
func (s *stacks) kernel(id int32) []string {
	if id < 0 {
		return nil
	}
	if f, ok := s.functions[id]; ok {
		return f
	}
	if len(s.functions) >= mostPairs {
		clear(s.functions)
	}
	var out []string
	for _, f := range s.names.Kernel(s.read(id)) {
		out = append(out, f.Function)
	}
	s.functions[id] = out
	return out
}

// function is the innermost function of a stack that is the program's own: not of the
// C library, nor without a name.
func (s *stacks) function(pid int, thread int32) string {
	if thread < 0 {
		return ""
	}
	for _, f := range s.names.User(pid, s.read(thread)) {
		if f.Named && !ofRuntime(f) {
			return f.Function
		}
	}
	return ""
}

// ofRuntime tells a function of the C library, or one that only waits for the
// program: it names nothing that a person would change.
func ofRuntime(f symbols.Frame) bool {
	switch base := path.Base(f.Object); {
	case strings.HasPrefix(base, "libc.so"), strings.HasPrefix(base, "libc-"), strings.HasPrefix(base, "libpthread"), strings.HasPrefix(base, "ld-"), base == "[vdso]":
		return true
	}
	return strings.HasPrefix(f.Function, "runtime.") || strings.HasPrefix(f.Function, "__pthread") || strings.HasPrefix(f.Function, "pthread_") ||
		strings.HasPrefix(f.Function, "__lll_lock") || strings.HasPrefix(f.Function, "std::")
}

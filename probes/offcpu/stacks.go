package offcpu

import (
	"path"
	"runtime"
	"strings"

	"snag/internal/unwind"
	"snag/probes/probe"
	"snag/probes/symbols"
)

// noStack is NO_STACK of tables.h.
const noStack = -1

// pair is a stack of the kernel and one of its process, as the kernel's map has them.
type pair struct {
	pid            int
	kernel, thread int32
	site           uint32 // of thread
}

// stacks names the stacks of one source, each once. An id stands for the same
// addresses for as long as the programs are loaded.
type stacks struct {
	from      source
	names     *symbols.Resolver
	table     *probe.Stacks
	ids       map[pair]int
	functions map[int32][]string
	// mended are the walks of threads' own stacks with the callers that the walk by
	// frame pointers missed; the kernel hands over no more than it has room for.
	mended map[topKey]unwind.Walk
}

// noPair is neither.
var noPair = pair{kernel: noStack, thread: noStack}

// mostPairs are remembered; then all are named anew.
const mostPairs = 1 << 15

// id is the stack's in the recording; 0 where neither was taken.
func (s *stacks) id(p pair) int {
	if p.kernel < 0 && p.thread < 0 {
		return 0
	}
	if id, ok := s.ids[p]; ok {
		return id
	}
	if len(s.ids) >= mostPairs {
		clear(s.ids)
	}
	in := s.from.addresses(p.kernel)
	in = in[machinery(s.kernel(p.kernel)):]
	w := s.thread(p)
	k, u := s.names.Kernel(in), s.names.User(p.pid, w.Addresses)
	named := symbols.StackOf(k, u)
	named.Cut = symbols.CutAfter(w.End, u)
	if w.Guess > 0 && w.Guess < len(u) {
		named.Guessed = len(k) + w.Guess
	}
	id := s.table.ID(named)
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
	for _, f := range s.names.Kernel(s.from.addresses(id)) {
		out = append(out, f.Function)
	}
	s.functions[id] = out
	return out
}

// thread is the walk of a thread's own stack.
func (s *stacks) thread(p pair) unwind.Walk {
	if p.thread < 0 {
		return unwind.Walk{}
	}
	if w, ok := s.mended[topKey{p.thread, p.site, s.from.wakers}]; ok {
		return w
	}
	return unwind.Walk{Addresses: s.from.addresses(p.thread)}
}

// mend walks a stack of which the top was handed over.
func (s *stacks) mend(t top) {
	chain := s.from.addresses(t.stack)
	if len(chain) == 0 || chain[0] != t.at.IP() || runtime.GOARCH != "amd64" {
		return // on arm64 the C libraries keep frame records
	}
	image := s.names.Hold(t.pid, chain)
	s.mended[t.topKey] = s.names.Mend(image, t.at, t.bytes, chain)
}

// function is the innermost function of a stack that is the program's own: not of the
// C library, nor without a name.
func (s *stacks) function(p pair) string {
	if p.thread < 0 {
		return ""
	}
	for _, f := range s.names.User(p.pid, s.thread(p).Addresses) {
		if f.Named && !ofRuntime(f) {
			return f.Function
		}
	}
	return ""
}

// ofGo tells a stack of Go's own scheduler: its threads wake each other all the time, and
// what goroutines wait for is not to be seen there.
func (s *stacks) ofGo(p pair) bool {
	if p.thread < 0 {
		return false
	}
	for _, f := range s.names.User(p.pid, s.thread(p).Addresses) {
		if strings.HasPrefix(f.Function, "runtime.futex") {
			return true
		}
	}
	return false
}

// machinery is how many of the innermost functions are how the stack was taken and how
// the thread left its CPU, on each stack the same.
func machinery(functions []string) int {
	n := 0
	for n < len(functions) && isMachinery(functions[n]) {
		n++
	}
	return n
}

func isMachinery(f string) bool {
	for _, beginning := range []string{"bpf_prog_", "bpf_trace_run", "__bpf_trace_", "__traceiter_", "bpf_get_stackid", "bpf_trampoline"} {
		if strings.HasPrefix(f, beginning) {
			return true
		}
	}
	return f == "__schedule" || f == "schedule"
}

// ofRuntime tells a function of the C library, or one that only waits for the
// program: it names nothing that a person would change.
func ofRuntime(f symbols.Frame) bool {
	beginnings := []string{"runtime.", "internal/runtime/", "syscall.", "__pthread", "pthread_", "__lll_lock", "std::"}
	switch base := path.Base(f.Object); {
	case strings.HasPrefix(base, "libc.so"), strings.HasPrefix(base, "libc-"), strings.HasPrefix(base, "libpthread"), strings.HasPrefix(base, "ld-"), base == "[vdso]",
		strings.HasPrefix(base, "libjvm."), strings.HasPrefix(base, "libnio."), strings.HasPrefix(base, "libnet."), strings.HasPrefix(base, "libjava."):
		return true
	case base == "[jit]": // Java's own methods, and what interprets all others
		beginnings = []string{"java.", "javax.", "jdk.", "sun.", "com.sun.", "Interpreter", "StubRoutines"}
	}
	for _, beginning := range beginnings {
		if strings.HasPrefix(f.Function, beginning) {
			return true
		}
	}
	return false
}

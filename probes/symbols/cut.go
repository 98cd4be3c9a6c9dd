package symbols

import (
	"path"
	"slices"
	"strings"
)

// What Stack.Cut says.
const (
	// CutNoFramePointers: the code below was built without frame pointers, so that
	// the walk lost its way.
	CutNoFramePointers = "no frame pointers"
	// CutTooDeep: there were more frames than are taken.
	CutTooDeep = "too deep"
)

// MostFrames are taken of a stack (PERF_MAX_STACK_DEPTH, linux/perf_event.h).
const MostFrames = 127

// starts are the functions that threads begin in: of glibc, musl, Go, the JVM, and
// of programs without any of them.
var starts = []string{
	"_start", "__libc_start_main", "__libc_start_call_main", "__libc_start_main_impl", "generic_start_main",
	"clone", "__clone", "clone3", "__clone3", "start_thread", "start", "main_start", "libc_start_main_stage2",
	"runtime.goexit", "runtime.goexit.abi0", "runtime.mstart", "runtime.mstart.abi0", "runtime.rt0_go", "runtime.rt0_go.abi0",
	"runtime.mcall", "runtime.mcall.abi0", "runtime.systemstack", "runtime.systemstack.abi0", "runtime.gogo", "runtime.gogo.abi0",
	"runtime.morestack", "runtime.morestack.abi0", "runtime.sigreturn__sigaction", "runtime.sigtramp.abi0",
	"thread_native_entry", "JavaMain", "ThreadJavaMain", "_dl_start", "_dl_start_user",
}

// CutOf reports why a walk of user frames, innermost first, ended before the function
// that the thread began in; "" it did not, or nobody can tell. A frame pointer that
// the code uses for something else ends the walk anywhere, so that the outermost
// frame tells: a thread's start, or the C library's own code, which calls a
// program's functions from its starts and whose names most distributions strip.
func CutOf(user []Frame) string {
	if len(user) == 0 {
		return ""
	}
	last := user[len(user)-1]
	switch {
	case len(user) >= MostFrames:
		return CutTooDeep
	case isStart(last):
		return ""
	case len(user) > 1 && !last.Named && isLibc(last.Object):
		return ""
	case len(user) > 1 && path.Base(last.Object) == "libjvm.so" && user[len(user)-2].Object == "[jit]":
		return "" // Java's first frame was called by the JVM, which has no frame pointers itself
	}
	return CutNoFramePointers
}

// isStart tells a function that threads begin in.
func isStart(f Frame) bool {
	name, _, _ := strings.Cut(f.Function, "(")
	name, _, _ = strings.Cut(name, "@")
	return slices.Contains(starts, name) || strings.HasPrefix(name, "_rt0_") || strings.HasPrefix(name, "runtime.asmcgocall")
}

// isLibc reports whether an object is a C library or another that begins threads:
// libstdc++'s own code calls a program's functions in std::thread's start.
func isLibc(object string) bool {
	base := path.Base(object)
	for _, name := range []string{"libc.so.", "libc-2.", "libstdc++.so.", "libpthread", "ld-linux", "ld-musl", "libc.musl"} {
		if strings.HasPrefix(base, name) {
			return true
		}
	}
	return base == "libc.so" // musl's own name
}

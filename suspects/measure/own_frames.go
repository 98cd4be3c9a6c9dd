package measure

import (
	"path"
	"strings"

	"snag/recording"
)

// mostCallers functions of a stack are named: the innermost may be a helper.
const mostCallers = 3

// OwnFunctions are the innermost functions of a stack that are the program's own, each
// called by the next: not the kernel's, nor of the C library or a runtime, nor without a
// name.
func OwnFunctions(r *recording.Recording, id int) string {
	if id == 0 {
		return ""
	}
	for _, s := range r.Stacks {
		if s.ID == id {
			return CalledBy(OwnFrames(s))
		}
	}
	return ""
}

// CalledBy writes functions, the innermost first, as "whole(), called by ask(), called by worker()".
func CalledBy(functions []string) string {
	var named []string
	for _, f := range functions {
		if !strings.HasSuffix(f, ")") { // C++ and Rust have the parameters in the name
			f += "()"
		}
		named = append(named, f)
	}
	return strings.Join(named, ", called by ")
}

// OwnFrames are those functions of one stack.
func OwnFrames(s recording.Stack) []string {
	if s.Kernel < 0 {
		return nil
	}
	var own []string
	for i := s.Kernel; i < len(s.Frames) && len(own) < mostCallers; i++ {
		object := ""
		if i < len(s.Objects) {
			object = path.Base(s.Objects[i])
		}
		if !ofRuntime(s.Frames[i], object) {
			own = append(own, s.Frames[i])
		}
	}
	return own
}

// ofRuntime tells a function that only waits on behalf of the program: it names nothing
// that a person would change.
func ofRuntime(function, object string) bool {
	for _, beginning := range []string{"libc.so", "libc-", "libpthread", "ld-", "[vdso]", "libjvm", "libnio.so", "libnet.so", "libjava.so", "libstdc++"} {
		if strings.HasPrefix(object, beginning) {
			return true
		}
	}
	for _, beginning := range []string{"runtime.", "internal/runtime/", "syscall.", "golang.org/x/sys/", "sync.", "internal/poll.", "internal/sync.", "net.(*conn)", "net.(*netFD)", "io.Read", "crypto/tls.(*Conn)", "__pthread", "pthread_", "__lll_lock", "std::"} {
		if strings.HasPrefix(function, beginning) {
			return true
		}
	}
	return function == "" || strings.Contains(function, "+0x") || object == "[jit]" && ofJDK(function)
}

// ofJDK reports what a JVM generated that is not of the program: its libraries' methods, and
// its interpreter, which has one name for all that it interprets.
func ofJDK(method string) bool {
	for _, beginning := range []string{"java.", "javax.", "jdk.", "sun.", "com.sun.", "Interpreter", "StubRoutines"} {
		if strings.HasPrefix(method, beginning) {
			return true
		}
	}
	return false
}

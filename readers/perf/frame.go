package perf

import (
	"bytes"
	"path"
	"strings"

	"snag/internal/kernel"
)

// frame is one function of a stack.
type frame struct {
	function string // of one without a name: its file's, "[libc.so.6]"
	object   string // "" of the kernel, or not known
	kernel   bool
	named    bool
}

// parseFrame reads "ffffffff810 native_write_msr+0x4 ([kernel.kallsyms])". A
// frame without a symbol is told by its object.
func parseFrame(b []byte) (frame, bool) {
	b = bytes.TrimSpace(b)
	address, rest, _ := bytes.Cut(b, []byte(" "))
	if !isHex(address) {
		return frame{}, false
	}
	rest = bytes.TrimLeft(rest, " ")
	name, object := rest, []byte(nil)
	switch {
	case bytes.HasSuffix(rest, []byte(" (inlined)")):
		name = rest[:len(rest)-len(" (inlined)")]
	case bytes.HasSuffix(rest, []byte(")")):
		if i := openBracket(rest); i >= 0 {
			name, object = bytes.TrimSpace(rest[:i]), rest[i+1:len(rest)-1]
		}
	}
	return makeFrame(string(offsetOff(name)), string(offsetOff(object)), inKernel(object, address)), true
}

// makeFrame puts a frame as the recording has them.
func makeFrame(function, object string, inKernel bool) frame {
	f := frame{function: function, object: strings.TrimSuffix(object, " (deleted)"), kernel: inKernel}
	f.named = f.function != "" && f.function != "[unknown]"
	switch {
	case f.object == "[unknown]" || inKernel:
		f.object = ""
	case strings.HasPrefix(f.object, "/tmp/perf-") && strings.HasSuffix(f.object, ".map") || strings.HasPrefix(f.object, "[JIT] "):
		f.object = "[jit]"
	}
	switch {
	case inKernel && f.named:
		f.function = kernel.Plain(f.function)
	case f.named:
	case f.object == "" || f.object == "[jit]":
		f.function = "[unknown]"
	case strings.HasPrefix(f.object, "["):
		f.function = f.object
	default:
		f.function = "[" + path.Base(f.object) + "]"
	}
	return f
}

// openBracket is where the object's bracket opens: objects may have brackets in
// their names, "/x (deleted)", "[vdso]"; symbols of C++ have them as well, and
// stand before a space.
func openBracket(b []byte) int {
	depth := 0
	for i := len(b) - 1; i >= 0; i-- {
		switch b[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 && (i == 0 || b[i-1] == ' ') {
				return i
			}
		}
	}
	return -1
}

// offsetOff takes "+0x4" off a symbol, or off an object (-F +dsoff).
func offsetOff(b []byte) []byte {
	if i := bytes.LastIndex(b, []byte("+0x")); i > 0 && isHex(b[i+3:]) {
		return b[:i]
	}
	return b
}

func isHex(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(b) > 0
}

// inKernel tells by the address: user space lies in the lower half, on x86-64 and
// arm64 alike. Then by the object, for what has short addresses.
func inKernel(object, address []byte) bool {
	if len(address) == 16 && address[0] >= '8' {
		return !bytes.HasPrefix(object, []byte("[vsyscall]"))
	}
	for _, p := range []string{"[kernel", "[guest.kernel"} {
		if bytes.HasPrefix(object, []byte(p)) {
			return true
		}
	}
	return bytes.HasSuffix(object, []byte(".ko")) || bytes.HasSuffix(object, []byte("/vmlinux"))
}

package perf

import (
	"bytes"
	"strings"
)

// frame is one function of a stack.
type frame struct {
	function string
	object   string // "" of the kernel
	kernel   bool
}

// parseFrame reads "ffffffff810 native_write_msr+0x4 ([kernel.kallsyms])". A
// frame without a symbol is told by its object.
func parseFrame(b []byte) (frame, bool) {
	b = bytes.TrimSpace(b)
	address, rest, ok := bytes.Cut(b, []byte(" "))
	if !ok || !isHex(address) {
		return frame{}, false
	}
	name, object := rest, []byte(nil)
	inlined := bytes.HasSuffix(rest, []byte(" (inlined)"))
	switch {
	case inlined:
		name = rest[:len(rest)-len(" (inlined)")]
	case bytes.HasSuffix(rest, []byte(")")):
		if i := openBracket(rest); i >= 0 {
			name, object = bytes.TrimSpace(rest[:i]), rest[i+1:len(rest)-1]
		}
	}
	f := frame{function: symbol(name), object: strings.TrimSuffix(string(object), " (deleted)")}
	f.kernel = isKernel(f.object, address)
	if f.function == "[unknown]" || f.function == "" {
		f.function = "[unknown]"
		if o := f.object; o != "" && o != "[unknown]" && !f.kernel {
			f.function = "[" + o[strings.LastIndexByte(o, '/')+1:] + "]"
		}
	}
	if f.kernel || f.object == "[unknown]" {
		f.object = ""
	}
	return f, true
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

// symbol takes the offset off a name.
func symbol(b []byte) string {
	if i := bytes.LastIndex(b, []byte("+0x")); i > 0 && isHex(b[i+3:]) {
		b = b[:i]
	}
	return string(b)
}

func isHex(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(b) > 0
}

// isKernel tells by the object, and where there is none by the address: user space
// lies in the lower half.
func isKernel(object string, address []byte) bool {
	switch {
	case strings.HasPrefix(object, "[kernel"), strings.HasPrefix(object, "[guest.kernel"), strings.HasSuffix(object, ".ko"), strings.HasSuffix(object, "/vmlinux"), strings.HasPrefix(object, "bpf_prog"):
		return true
	case strings.HasPrefix(object, "[") && object != "[unknown]" && object != "[vdso]" && object != "[vsyscall]" && object != "[heap]" && object != "[stack]" && !strings.HasPrefix(object, "[anon"):
		return true // a module: [nf_tables]
	}
	return object == "" && len(address) == 16 && address[0] >= '8'
}

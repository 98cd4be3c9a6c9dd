package threads

import (
	"runtime"
	"strconv"
	"strings"

	"snag/internal/calls"
)

//go:generate go run mksyscalls.go amd64 arm64 amd64/386 arm64/arm

// What the column Syscall says where a thread is in no call that has a name.
const (
	running = "running" // on a CPU, or about to be
	outside = "none"    // it sleeps outside of any call: a page fault, a stop
)

// CallName is the name of a system call of this architecture by its number. One
// that is newer than the table is "syscall_NUMBER", as is each where snag has none. A
// call of x32 (x86-64 with pointers of 32 bits) has "/x32" after its name.
func CallName(nr int) string { return nameOf(syscallNames, nr) }

// __X32_SYSCALL_BIT of x86-64 (arch/x86/include/uapi/asm/unistd.h), of whose numbers
// those of x32 mostly are.
const (
	x32Bit    = 1 << 30
	x32Suffix = "/x32"
)

func nameOf(names map[int]string, nr int) string {
	if nr&x32Bit != 0 && runtime.GOARCH == "amd64" {
		return nameOf(names, nr&^x32Bit) + x32Suffix
	}
	if name, ok := names[nr]; ok {
		return name
	}
	return "syscall_" + strconv.Itoa(nr)
}

// Descriptor is the descriptor that a call works on, by its first argument; false
// where that is something else. It is an int in a register: the upper half is
// anything. -1 is no descriptor (AT_FDCWD and such).
func Descriptor(call string, first uint64) (fd int, ok bool) {
	if calls.Of(strings.TrimSuffix(strings.TrimSuffix(call, CompatSuffix), x32Suffix))&calls.OnFD == 0 {
		return -1, false
	}
	return max(int(int32(first)), -1), true
}

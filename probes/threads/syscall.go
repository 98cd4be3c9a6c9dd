package threads

import (
	"runtime"
	"strconv"
	"strings"
)

//go:generate go run mksyscalls.go amd64 arm64 amd64/386 arm64/arm

// What the column Syscall says where a thread is in no call that has a name.
const (
	running = "running" // on a CPU, or about to be
	outside = "none"    // it sleeps outside of any call: a page fault, a stop
)

// descriptorFirst are the calls whose first argument is the descriptor they work
// on, and that can wait for it. Of sendfile it is the one written to.
var descriptorFirst = set(
	"read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2",
	"sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg",
	"accept", "accept4", "connect", "shutdown", "bind", "listen", "getsockopt", "setsockopt",
	"sendfile", "splice", "tee", "vmsplice", "copy_file_range",
	"epoll_wait", "epoll_pwait", "epoll_pwait2", "epoll_ctl", "io_uring_enter",
	"close", "ioctl", "fcntl", "flock", "fsync", "fdatasync", "sync_file_range", "syncfs",
	"ftruncate", "fallocate", "fstat", "lseek", "getdents64", "readahead",
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

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
	if !descriptorFirst[strings.TrimSuffix(strings.TrimSuffix(call, CompatSuffix), x32Suffix)] {
		return -1, false
	}
	return max(int(int32(first)), -1), true
}

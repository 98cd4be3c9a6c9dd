package threads

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"snag/internal/calls"
)

// CallNames are the names of this architecture's system calls by number; nil where
// snag has no table. Not to be changed.
func CallNames() map[int]string { return syscallNames }

// CompatNames are those of its 32-bit calls (32-bit programs on a 64-bit kernel);
// nil where snag has no table. Not to be changed.
func CompatNames() map[int]string { return compatNames }

// CompatSuffix marks the names of 32-bit calls: they are not the 64-bit calls of
// the same name.
const CompatSuffix = "/32"

// CompatName is the name of a 32-bit call by its number.
func CompatName(nr int) string { return nameOf(compatNames, nr) + CompatSuffix }

// WaitsForAnything reports whether threads that are idle sit in that call: they wait for any
// of many things, for a moment of time, for a new connection or a child.
func WaitsForAnything(call string) bool {
	return calls.Of(strings.TrimSuffix(call, CompatSuffix))&calls.Idles != 0
}

// InCall reports whether Thread.Syscall names a call.
func InCall(syscall string) bool { return syscall != "" && syscall != running && syscall != outside }

// Comm is a thread's name; "" once it has ended.
func Comm(proc string, pid, tid int) string {
	b, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "task", strconv.Itoa(tid), "comm"))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(b), "\n")
}

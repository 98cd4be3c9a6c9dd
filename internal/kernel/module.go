package kernel

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Modules is the folder of the running kernel's modules.
func Modules() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return "/lib/modules/" + unix.ByteSliceToString(u.Release[:])
}

// ModuleThere reports whether a module is part of the kernel or loaded. Where nf_tables
// is neither there are no rules, and asking would have the kernel load it
// (net/netfilter/nfnetlink.c, nfnetlink_rcv_msg).
func ModuleThere(proc, sys, modules, name string) bool {
	if _, err := os.Stat(filepath.Join(proc, "modules")); errors.Is(err, fs.ErrNotExist) {
		return true // a kernel that can load nothing
	}
	if _, err := os.Stat(filepath.Join(sys, "module", name)); err == nil {
		return true
	}
	builtin, _ := os.ReadFile(filepath.Join(modules, "modules.builtin")) // none: nothing is known to be built in
	return containsModule(builtin, name)
}

// containsModule looks for ".../NAME.ko" in modules.builtin.
func containsModule(builtin []byte, name string) bool {
	return bytes.Contains(builtin, []byte("/"+name+".ko\n")) || bytes.HasSuffix(builtin, []byte("/"+name+".ko"))
}

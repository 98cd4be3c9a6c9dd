package kernel

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Caps is a set of capabilities, a bit each (capabilities(7)).
type Caps uint64

// Has reports whether a capability (unix.CAP_…) is in the set.
func (c Caps) Has(capability int) bool { return c&(1<<uint(capability)) != 0 }

// Capabilities reads the effective capabilities of this process.
func Capabilities(proc string) (Caps, error) {
	path := proc + "/self/status"
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("reading own capabilities: %w", err)
	}
	c, err := parseCaps(b)
	if err != nil {
		return 0, fmt.Errorf("reading own capabilities in %s: %w", path, err)
	}
	return c, nil
}

func parseCaps(status []byte) (Caps, error) {
	s := bufio.NewScanner(bytes.NewReader(status))
	for s.Scan() {
		if v, ok := bytes.CutPrefix(s.Bytes(), []byte("CapEff:")); ok {
			n, err := strconv.ParseUint(string(bytes.TrimSpace(v)), 16, 64)
			return Caps(n), err
		}
	}
	return 0, fmt.Errorf("no CapEff line")
}

// SeesDescriptors reports whether this process may read what other users' descriptors are
// (CAP_SYS_PTRACE, proc_fd_access_allowed in fs/proc/base.c). A security module may refuse
// single ones even so: process 1 of a container, say. No capability would change that.
func SeesDescriptors(proc string) bool {
	c, err := Capabilities(proc)
	return err == nil && c.Has(unix.CAP_SYS_PTRACE)
}

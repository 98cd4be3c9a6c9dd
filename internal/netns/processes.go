package netns

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Processes are the pids, in order, of the processes that are in a namespace now. One whose namespace this user must
// not see is left out.
func Processes(proc string, id uint64) (out []int) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if of, err := IDOf(filepath.Join(proc, e.Name(), "ns", "net")); err == nil && of == id {
			out = append(out, pid)
		}
	}
	slices.Sort(out)
	return out
}

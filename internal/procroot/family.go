package procroot

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// ForkedBy is the parent of a process where both run the same program: who forks workers for
// what is asked of it. 0: it is another's, or can't be read.
func ForkedBy(proc string, pid int) int {
	b, err := statField(proc, pid, 4)
	if err != nil {
		return 0
	}
	parent, err := strconv.Atoi(string(b))
	if err != nil || parent <= 0 {
		return 0
	}
	own, err := os.Readlink(proc + "/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return 0
	}
	if theirs, err := os.Readlink(proc + "/" + strconv.Itoa(parent) + "/exe"); err != nil || theirs != own {
		return 0
	}
	return parent
}

// Forks reports whether a process has children that run its own program: it forks workers for what is asked
// of it, as a database or a web server does. Children that one of its other threads began are not found.
func Forks(proc string, pid int) bool {
	return slices.ContainsFunc(Children(proc, pid, pid), func(child int) bool { return ForkedBy(proc, child) == pid })
}

// Children are the processes that a thread began and that live: /proc/PID/task/TID/children (proc(5)). None
// where the kernel has no such file (CONFIG_PROC_CHILDREN).
func Children(proc string, pid, tid int) []int {
	b, err := os.ReadFile(proc + "/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(tid) + "/children")
	if err != nil {
		return nil
	}
	return parsePIDs(string(b))
}

// parsePIDs reads numbers between spaces.
func parsePIDs(s string) []int {
	var out []int
	for _, f := range strings.Fields(s) {
		if pid, err := strconv.Atoi(f); err == nil && pid > 0 {
			out = append(out, pid)
		}
	}
	return out
}

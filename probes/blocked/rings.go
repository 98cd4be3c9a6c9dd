package blocked

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"snag/internal/sorting"
	"snag/probes/syscalls/uring"
	"snag/probes/threads"
)

// Waiting are operations of io_uring of one kind, on one ring, that no thread waits for:
// in flight at both looks, and nothing on the ring completed in between.
type Waiting struct {
	PID, FD int // the ring's descriptor
	Comm    string
	Call    string // "io_uring:recv"
	N       int
	Idle    bool // operations wait so that nothing has come for yet
}

type ringOf struct{ pid, fd int }

// mostFDs descriptors of a process are looked through for rings.
const mostFDs = 4096

// rings reads the rings of those processes.
func rings(proc string, pids []int) map[ringOf]uring.Ring {
	all := map[ringOf]uring.Ring{}
	for _, pid := range pids {
		dir := filepath.Join(proc, strconv.Itoa(pid))
		f, err := os.Open(filepath.Join(dir, "fd"))
		if err != nil {
			continue // ended, or of another user: its threads' calls tell
		}
		names, _ := f.Readdirnames(mostFDs)
		f.Close()
		for _, name := range names {
			if link, err := os.Readlink(filepath.Join(dir, "fd", name)); err != nil || link != uring.Link {
				continue
			}
			fd, err := strconv.Atoi(name)
			b, err2 := os.ReadFile(filepath.Join(dir, "fdinfo", name))
			if err == nil && err2 == nil {
				all[ringOf{pid, fd}] = uring.ParseRing(b)
			}
		}
	}
	return all
}

// waiting are the operations that are in flight at both looks. A ring on which any
// completed has others in flight now, as far as can be told; so has one of a kernel that
// does not count them.
func waiting(proc string, before, after map[ringOf]uring.Ring) (out []Waiting) {
	for at, is := range after {
		was, ok := before[at]
		if !ok || !is.Counted || !was.Counted || was.Completed != is.Completed {
			continue
		}
		for _, code := range slices.Sorted(maps.Keys(is.Waits)) {
			if n := min(is.Waits[code], was.Waits[code]); n > 0 {
				call := uring.Name(code)
				out = append(out, Waiting{PID: at.pid, FD: at.fd, Comm: threads.Comm(proc, at.pid, at.pid), Call: call, N: n, Idle: uring.WaitsForWork(call)})
			}
		}
	}
	sorting.By(out, func(a, b Waiting) int {
		if a.PID != b.PID {
			return a.PID - b.PID
		}
		if a.FD != b.FD {
			return a.FD - b.FD
		}
		return b.N - a.N
	})
	return out
}

// uncounted is how many rings have operations in flight on a kernel that does not tell
// whether any completed.
func uncounted(rings map[ringOf]uring.Ring) (n int) {
	for _, r := range rings {
		if !r.Counted {
			n++
		}
	}
	return n
}

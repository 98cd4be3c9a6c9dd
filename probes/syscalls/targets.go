package syscalls

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/cilium/ebpf"

	"snag/internal/procroot"
)

// mostTargets is TARGETS: processes at a time, children of targets among them.
const mostTargets = 4096

// targets are the processes that the programs look at. The kernel side adds their
// children and takes off what has ended, so that a number that is used again is
// not taken for the process that had it.
type targets struct {
	added    map[uint32]bool // by user space
	children map[uint32]bool // found in /proc, ever
	full     int             // processes that found no room
}

// sync tells the kernel side of processes that are new in the list, which it
// returns, and of those that are no longer in it.
func (t *targets) sync(l *loaded, want []int, now int64) (fresh []int) {
	if t.added == nil {
		t.added = map[uint32]bool{}
	}
	wanted := map[uint32]bool{}
	slices.Sort(want)
	for _, pid := range want {
		p := uint32(pid)
		wanted[p] = true
		if t.added[p] {
			continue
		}
		t.added[p] = true
		fresh = append(fresh, pid)
		if l.mark(p, now) != nil {
			t.full++
		}
	}
	for p := range t.added {
		if !wanted[p] {
			_ = l.objects.Targets.Delete(p) // it may have ended
			delete(t.added, p)
		}
	}
	return fresh
}

// child makes a process a target as long as its parent is one.
func (t *targets) child(l *loaded, pid int, now int64) {
	p := uint32(pid)
	if t.children[p] || t.added[p] {
		return
	}
	if t.children == nil {
		t.children = map[uint32]bool{}
	}
	t.children[p] = true
	var since uint64
	if l.objects.Targets.Lookup(p, &since) == nil {
		return // the kernel side saw it begin
	}
	if l.mark(p, now) != nil {
		t.full++
	}
}

// mark makes a process a target from now on.
func (l *loaded) mark(pid uint32, now int64) error {
	if err := l.objects.Maybe.Update(pid&0xffff, uint8(1), ebpf.UpdateAny); err != nil {
		return err
	}
	return l.objects.Targets.Update(pid, uint64(now), ebpf.UpdateAny)
}

// descendants are the children of a process and theirs, as /proc shows them: those
// that were forked before the programs looked.
func descendants(proc string, pids []int) []int {
	var out []int
	for i := 0; i < len(pids); i++ {
		tasks, err := os.ReadDir(filepath.Join(proc, strconv.Itoa(pids[i]), "task"))
		if err != nil {
			continue
		}
		for _, task := range tasks {
			tid, err := strconv.Atoi(task.Name())
			if err != nil {
				continue
			}
			for _, pid := range procroot.Children(proc, pids[i], tid) {
				if !slices.Contains(pids, pid) && len(pids) < mostTargets {
					pids = append(pids, pid)
					out = append(out, pid)
				}
			}
		}
	}
	return out
}

package probe

import (
	"sync"
	"time"

	"snag/internal/procroot"
)

// Watch is the set of processes that deserve a closer look: those of the target,
// and those behind sockets that a probe found suspicious. Bounded.
type Watch struct {
	mu      sync.Mutex
	pids    map[int]*watched
	failing map[int]bool
	carries map[int]bool
	max     int
	added   uint64
	proc    string // root of procfs; "": a number is taken for its process for ever
	checked time.Time
	now     func() time.Time
	only    func(pid int) bool
}

// Only has the set take those processes alone that f says yes to; before the first is added.
func (w *Watch) Only(f func(pid int) bool) { w.only = f }

// watched is one process of the set.
type watched struct {
	why      string
	comm     string // its name; "": nobody noted it
	start    uint64 // when it began, clock ticks after boot; 0: not known
	replaced bool   // its number is another's now
}

// checkEach is how often it is looked whether the numbers are still the same processes',
// where it is asked about each of many events.
const checkEach = 300 * time.Millisecond

// NewWatch returns an empty set that holds at most most processes.
func NewWatch(most int) *Watch {
	return &Watch{pids: map[int]*watched{}, max: most, now: time.Now}
}

// In has the set know its processes by when they began, as the procfs at proc tells: when
// one has ended and its number is given to another, that one is not in the set.
func (w *Watch) In(proc string) *Watch {
	w.proc = proc
	return w
}

// check looks whether the numbers are still those of the processes that were added; now,
// or where that was looked at a moment ago not again.
func (w *Watch) check(again bool) {
	now := w.now()
	if w.proc == "" || !again && now.Sub(w.checked) < checkEach {
		return
	}
	w.checked = now
	for pid, p := range w.pids {
		if start, err := procroot.StartTime(w.proc, pid); err == nil && p.start != 0 && start != p.start {
			p.replaced = true
		}
	}
}

// begun is when a process began; 0 where that is not known.
func (w *Watch) begun(pid int) uint64 {
	if w.proc == "" {
		return 0
	}
	start, err := procroot.StartTime(w.proc, pid)
	if err != nil {
		return 0
	}
	return start
}

// Replaced reports whether a process of the set has ended and its number is another's now.
func (w *Watch) Replaced(pid int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.check(false)
	p := w.pids[pid]
	return p != nil && p.replaced
}

// Add marks a process, with the reason that is shown in coverage. It returns
// false when the set is full.
func (w *Watch) Add(pid int, why string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if pid <= 0 || w.only != nil && !w.only(pid) {
		return false
	}
	w.check(true)
	p := w.pids[pid]
	switch {
	case p != nil && !p.replaced:
		return true
	case p == nil && len(w.pids) >= w.max && !w.dropEnded():
		return false
	}
	w.pids[pid] = &watched{why: why, start: w.begun(pid)}
	w.added++
	return true
}

// dropEnded makes room: it forgets the processes that have ended, and reports whether there were any.
func (w *Watch) dropEnded() bool {
	before := len(w.pids)
	for pid := range w.pids {
		if w.proc != "" && w.begun(pid) == 0 {
			delete(w.pids, pid)
		}
	}
	return len(w.pids) < before
}

// Note keeps the name of a process of the set: it may end before any probe sees it.
func (w *Watch) Note(pid int, comm string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.pids[pid]; p != nil {
		p.comm = comm
	}
}

// Comm is the name that was noted of a process of the set; "" where none was.
func (w *Watch) Comm(pid int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.pids[pid]; p != nil {
		return p.comm
	}
	return ""
}

// Failing marks a process whose calls are likely to fail for want of something:
// descriptors, ports. What calls return may then be looked at, for a short while.
func (w *Watch) Failing(pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failing == nil {
		w.failing = map[int]bool{}
	}
	if pid > 0 && len(w.failing) < w.max {
		w.failing[pid] = true
	}
}

// TakeFailing returns the processes marked by Failing since the last time.
func (w *Watch) TakeFailing() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []int
	for pid := range w.failing {
		out = append(out, pid)
	}
	clear(w.failing)
	return out
}

// Carry marks a process that a stream which snag reads passes through by other means
// than a connection: the writer of the files that a web server serves. What brings the
// stream to it is then followed.
func (w *Watch) Carry(pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.carries == nil {
		w.carries = map[int]bool{}
	}
	if pid > 0 && len(w.carries) < w.max {
		w.carries[pid] = true
	}
}

// TakeCarriers returns the processes marked by Carry since the last time.
func (w *Watch) TakeCarriers() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []int
	for pid := range w.carries {
		out = append(out, pid)
	}
	clear(w.carries)
	return out
}

// Drop forgets a process that has ended.
func (w *Watch) Drop(pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pids, pid)
}

// PIDs returns the watched processes, in no order.
func (w *Watch) PIDs() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.check(true)
	out := make([]int, 0, len(w.pids))
	for pid, p := range w.pids {
		if !p.replaced {
			out = append(out, pid)
		}
	}
	return out
}

// Added is how often a process was added: while it stays the same, nobody is watched who was not.
func (w *Watch) Added() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.added
}

// Has reports whether a process is watched.
func (w *Watch) Has(pid int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.check(false)
	p := w.pids[pid]
	return p != nil && !p.replaced
}

// Empty reports that nobody was ever added.
func (w *Watch) Empty() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.pids) == 0
}

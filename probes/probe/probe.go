// Package probe is what every live probe is given and gives back. A probe is one
// folder beside this one: its BPF C, the generated object, its life cycle, a
// pure decoder. It costs nothing until Start, writes what it measured to the
// Sink, and says in its coverage what it could not measure and why.
package probe

import (
	"context"
	"sync"
	"time"

	"snag/recording"
)

// Env is the world as a probe gets it.
type Env struct {
	Proc    string // root of procfs, "/proc"
	Sys     string // root of sysfs, "/sys"
	Anchor  recording.Anchor
	SelfPID int
	Netns   uint64 // inode of the namespace snag was started in
	Target  recording.Target
	Sink    recording.Sink
	Watch   *Watch
	// Closer are the processes that the costly probes (system calls, time off the
	// CPU, locks) look at: none to begin with, unless the user asked for them. Such
	// a probe attaches nothing while it is empty, and looks again each second.
	Closer *Watch
	// Whole: the recording is made for its profile (snag profile): all stacks are
	// kept, of the target's processes where it has some.
	Whole bool
	// Unwind: with Whole, stacks on the CPU are walked by the programs' call frame
	// information, over a copy: for programs without frame pointers.
	Unwind bool
	// CloserAll has those probes look at every process but snag, where they can.
	CloserAll bool
	// Peek is how many bytes of a buffer may be looked into for the name of what a
	// connection carries; 0: none. Only on the user's word.
	Peek int
	// GoLocks and GoRuntime put breakpoints (uprobes) into the Go programs among the
	// Closer: where goroutines wait for mutexes, and where the world is stopped.
	GoLocks, GoRuntime bool
	// Budget is what those probes may cost; never nil.
	Budget *Budget
	// Stacks hands out the ids of the table of stacks; never nil.
	Stacks *Stacks
	// Streams are the URLs of live streams to read as a viewer would while the rest
	// is recorded, and Layers one stream's places ("ingest=URL,edge=URL"); empty: none.
	Streams []string
	Layers  string
	// Notice shows the user the first of something ("first drops on eth0 …")
	// while the recording runs. Never nil, cheap, may be called from anywhere.
	Notice func(text string)
}

// Now is the present on the recording's clock.
func (e *Env) Now() recording.Time { return e.Anchor.FromMonotonic(monotonic()) }

// Probe is one live probe.
type Probe struct {
	Name string // host, drops, sockets, threads
	// Start begins to measure and returns at once. It appends coverage rows for
	// what it cannot measure here (recording.CoverageUnavailable with Why and
	// Cure) and an error only when nothing of the probe can run; the caller then
	// writes the probe's coverage row from it.
	Start func(context.Context, *Env) (Running, error)
}

// Running is a started probe.
type Running interface {
	// Stop takes a last measurement, ends the probe, waits for it, and appends
	// its final coverage rows: state, losses, lateness, cost.
	Stop()
}

// Unavailable is why a probe or a part of it can't run here.
type Unavailable struct {
	Why  string // "raw tracepoint kfree_skb: operation not permitted"
	Cure string // "run as root, or give the binary CAP_BPF and CAP_PERFMON"
}

func (u *Unavailable) Error() string {
	if u.Cure == "" {
		return u.Why
	}
	return u.Why + ": " + u.Cure
}

// Watch is the set of processes that deserve a closer look: those of the target,
// and those behind sockets that a probe found suspicious. Bounded.
type Watch struct {
	mu      sync.Mutex
	pids    map[int]string
	failing map[int]bool
	carries map[int]bool
	max     int
}

// NewWatch returns an empty set that holds at most most processes.
func NewWatch(most int) *Watch { return &Watch{pids: map[int]string{}, max: most} }

// Add marks a process, with the reason that is shown in coverage. It returns
// false when the set is full.
func (w *Watch) Add(pid int, why string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if pid <= 0 {
		return false
	}
	if _, ok := w.pids[pid]; ok {
		return true
	}
	if len(w.pids) >= w.max {
		return false
	}
	w.pids[pid] = why
	return true
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
	out := make([]int, 0, len(w.pids))
	for p := range w.pids {
		out = append(out, p)
	}
	return out
}

// Has tells whether a process is watched.
func (w *Watch) Has(pid int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, ok := w.pids[pid]
	return ok
}

// Every calls tick at once and then each period until ctx ends, and returns how
// late the latest tick began. A tick that overruns is not made up for.
func Every(ctx context.Context, period time.Duration, tick func(late time.Duration)) time.Duration {
	var worst time.Duration
	next := time.Now()
	for {
		late := time.Since(next)
		worst = max(worst, late)
		tick(late)
		next = next.Add(period)
		if behind := time.Since(next); behind > period {
			next = next.Add(behind.Truncate(period))
		}
		select {
		case <-ctx.Done():
			return worst
		case <-time.After(time.Until(next)):
		}
	}
}

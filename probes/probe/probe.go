// Package probe is what every live probe is given and gives back. A probe is one
// folder beside this one: its BPF C, the generated object, its life cycle, a
// pure decoder. It costs nothing until Start, writes what it measured to the
// Sink, and says in its coverage what it could not measure and why.
package probe

import (
	"context"
	"time"

	"snag/internal/netns"
	"snag/recording"
)

// Env is the world as a probe gets it.
type Env struct {
	Proc    string // root of procfs, "/proc"
	Sys     string // root of sysfs, "/sys"
	Anchor  recording.Anchor
	SelfPID int
	Netns   uint64        // inode of the namespace snag was started in
	Spaces  *netns.Shared // what the probes share of the search for namespaces; nil: nothing
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
	// Inlined: with Whole, the functions that compilers put into others have frames of
	// their own, as far as the programs have debugging information.
	Inlined bool
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
	// Continuous: the recording has no end (snag record). Scans and dumps run less often than in a find.
	Continuous bool
	// Round reports when rows that have not changed must be written again; nil: never.
	Round *Rotation
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

// Ticks is the interval of expensive scans in ticks: n in a find, twice as many in a continuous recording.
func (e *Env) Ticks(n int) int {
	if e.Continuous {
		return 2 * n
	}
	return n
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

// Every calls tick at once and then each period until ctx ends, and returns how
// late the latest tick began. A tick that overruns is not made up for.
func Every(ctx context.Context, period time.Duration, tick func(late time.Duration)) time.Duration {
	return EveryAdaptive(ctx, func() time.Duration { return period }, tick)
}

// EveryAdaptive is Every with a period that may change from tick to tick. A probe with nothing to sample
// should not wake up ten times per second: the wake-ups cost more than its work.
func EveryAdaptive(ctx context.Context, pause func() time.Duration, tick func(late time.Duration)) time.Duration {
	var worst time.Duration
	next := time.Now()
	for {
		late := time.Since(next)
		worst = max(worst, late)
		tick(late)
		period := pause()
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

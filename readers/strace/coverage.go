package strace

import (
	"fmt"

	"snag/recording"
)

// coverage says what the trace measured. What it holds nothing of it did not measure:
// strace may have been told to leave those calls out.
func (t *Trace) coverage(style Style) []recording.Coverage {
	c := t.Counts
	if c.Calls == 0 && len(t.table) > 0 {
		return []recording.Coverage{{Probe: "syscalls.calls", State: recording.CoveragePartial, Since: c.First,
			Why:  "it is the table of strace -c: sums of its whole time, without a time, a thread, a descriptor or the names of errors",
			Cure: "strace -f -ttt -T -yy -s 256 -o FILE"}}
	}
	why, partial := t.flaws(style)
	row := func(probe, what string) recording.Coverage {
		r := recording.Coverage{Probe: probe, State: recording.CoveragePartial, Since: c.First, Why: what}
		if why != "" && what != "" {
			r.Why = what + "; " + why
		} else if why != "" {
			r.Why = why
		}
		return r
	}
	calls := row("syscalls.calls", "")
	calls.Lost = c.Noise + c.Orphans
	if !partial {
		calls.State = recording.CoverageOK
	}
	out := []recording.Coverage{calls, row("syscalls.fds", "descriptors from before the trace are known where strace -yy shows them"),
		row("sockets.signals", "SIGPIPE, SIGSTOP and SIGCONT of the traced processes")}
	trace := row(recording.Trace, "the traced processes only, and the calls that strace was not asked to leave out")
	if !t.placed(style) {
		trace.State, trace.Cure = recording.CoverageUnavailable, "strace -f -ttt -T -yy -s 256 -o FILE"
		return append(out, trace)
	}
	out = append(out, trace, row("threads.syscall", "where each thread was at the end of each second; one that was in no call counts as running"),
		row("offcpu.waits", "calls of 1 ms and more in which threads sleep, by their length; what is not a call is not seen, nor are stacks"))
	if t.saw&locking != 0 {
		out = append(out, row("locks.futex", "who holds a lock is taken to be who woke its waiters"))
	}
	if t.sockets {
		out = append(out, row("sockets.turns", "from when the process could know of a request, which may have come before"),
			row("sockets.errors", "of the traced calls"))
	}
	if len(t.looks.logs) > 0 {
		out = append(out, row("logs.files", "files that the trace saw opened to append, or that are named as logs"))
	}
	return out
}

// placed tells whether its calls have a time and a length, most of them.
func (t *Trace) placed(style Style) bool {
	return style != NoTime && 2*t.Counts.Timed >= t.Counts.Calls
}

// flaws says what of the trace could not be read, or had to be guessed.
func (t *Trace) flaws(style Style) (why string, partial bool) {
	c := t.Counts
	add := func(format string, args ...any) {
		if why != "" {
			why += "; "
		}
		why += fmt.Sprintf(format, args...)
	}
	switch style {
	case NoTime:
		add("its lines have no time: nothing can be placed in time (strace -ttt)")
	case Relative:
		add("its times are from line to line (-r): when it began is taken from the file")
	case TimeOfDay:
		add("its times name no day: that of the file's last change is taken")
	}
	if c.Timed*2 < c.Calls {
		add("%d of %d calls have no length (strace -T)", c.Calls-c.Timed, c.Calls)
	}
	if c.Noise > 0 {
		add("%d of %d lines are nothing of strace's, or damaged", c.Noise, c.Lines)
	}
	if c.Orphans > 0 {
		add("%d calls began before the file", c.Orphans)
	}
	if t.folded > 0 {
		add("%d rows were taken together: of threads first, then of descriptors with least time; no call is left out", t.folded)
	}
	if n := t.lostThreads; n > 0 {
		add("lines of %d threads over %d are counted together", n, mostThreads)
	}
	if n := t.unknownFDs; n > 0 {
		add("%d times a descriptor was opened or used beyond the %d that are tracked: what those are is not known", n, mostFDs)
	}
	if n := t.clock.moved; n > 0 {
		add("%d sessions begin before the one above them in the file ends: each is placed behind it", n)
	}
	if n := t.clock.back; n > 0 {
		add("%d lines lie before the line above them: the clock was set, or files were put together", n)
	}
	for _, kept := range []struct {
		what    string
		n, most int
	}{
		{"descriptors", t.fdRows, mostFDRows}, {"locks", t.lockRows, mostLockRows}, {"events", t.events, mostEvents}, {"turns", t.turnRows, mostTurnRows},
		{"sockets", t.socketRows, mostFDRows}, {"resets", t.resetRows, mostFDRows}, {"log files", t.logRows, mostFDRows}, {"waits", t.waitRows, mostWaitRows}, {"threads", mostThreadRows + t.looks.left, mostThreadRows},
	} {
		if kept.n > kept.most {
			add("%d rows of %s over %d are left out", kept.n-kept.most, kept.what, kept.most)
		}
	}
	if least := t.leastWait(); least > shortestWait {
		add("from some time on only waits of %d ms and more are reported", least/1e6)
	}
	if t.looks.every > 1 {
		add("threads are looked at every %d s: the trace is long", t.looks.every)
	}
	return why, why != ""
}

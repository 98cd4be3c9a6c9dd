package syscalls

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/recording"
	"snag/recording/calltable"
)

// Measures of the probe, as in recording.Measures.
const (
	measureCalls = "syscalls.calls"
	measureUring = "syscalls.io_uring"
	measureFDs   = "syscalls.fds"
	measurePeek  = "syscalls.peek"
)

// one makes a sentence about several things one about one.
var one = strings.NewReplacer("1 calls had", "1 call had", "1 calls went on at the end and are", "1 call went on at the end and is",
	"1 calls were", "1 call was", "1 processes were", "1 process was", "of their time", "of its time")

const curePtrace = "run as root, or give the binary CAP_SYS_PTRACE"

// announce writes what can and what can't be measured: when the probe starts, as it
// runs, for a recording that is cut off, and when it ends.
func (r *running) announce() {
	if r.kernel != nil && r.kernel.objects.Lost != nil {
		if n, err := r.kernel.losses(); err == nil {
			r.book.losses = n
		}
	}
	for _, c := range []recording.Coverage{r.callsRow(), r.uringRow(), r.fdsRow(), r.peekRow()} {
		r.env.Sink.Append(c)
	}
}

// base is a row of a measure, and whether there is more to say of it.
func (r *running) base(measure string) (recording.Coverage, bool) {
	c := recording.Coverage{Probe: measure, State: recording.CoverageOK, Since: r.attached, Late: r.late.Seconds()}
	switch {
	case r.lack != nil:
		c.State, c.Why, c.Cure, c.Since = recording.CoverageUnavailable, r.lack.Why, r.lack.Cure, 0
	case r.failed != nil:
		c.State, c.Why = recording.CoverageFailed, r.failed.Error()
	case !r.ever:
		// Nothing was looked at, so nothing may be cleared by this silence.
		c.State, c.Why = recording.CoverageOff, "no process was looked at closely"
		c.Cure = "name one: snag syscalls --pid N"
	default:
		return c, true
	}
	return c, false
}

func (r *running) callsRow() recording.Coverage {
	c, more := r.base(measureCalls)
	c.Cost = r.cost
	if !more {
		return c
	}
	n := r.book.losses
	c.Lost = n.rows
	var why, partial []string
	say := func(to *[]string, count uint64, format string, args ...any) {
		if count > 0 {
			text := fmt.Sprintf(format, args...)
			if count == 1 {
				text = one.Replace(text)
			}
			*to = append(*to, text)
		}
	}
	if r.stopped != "" {
		partial = append(partial, r.stopped)
	}
	say(&partial, n.rows, "%d calls were not counted: the table was full", n.rows)
	say(&partial, n.threads, "%d calls of threads over the %d that have room were counted without their time", n.threads, 16384)
	say(&partial, n.targets+uint64(r.targets.full), "%d processes were not followed: there were over %d", n.targets+uint64(r.targets.full), mostTargets)
	say(&why, n.before, "%d calls had begun before: of their time only what came after counts", n.before)
	say(&why, uint64(r.open), "%d calls went on at the end and are not counted", r.open)
	say(&why, uint64(r.withheld), "%d of them have no event", r.withheld)
	say(&why, uint64(max(r.long-mostBlocked, 0)), "%d calls of a second and more have no event: the first %d do", r.long-mostBlocked, mostBlocked)
	say(&why, uint64(r.folded), "%d rows of threads and descriptors were taken together, as there were over %d in a second", r.folded, calltable.Most)
	if r.runtimes.refused != nil {
		why = append(why, "what the programs cost in the kernel is not known: "+r.runtimes.refused.Error())
	}
	if r.env.CloserAll {
		why = append(why, "snag's own calls are left out")
	}
	if len(partial) > 0 {
		c.State = recording.CoveragePartial
	}
	c.Why = strings.Join(append(partial, why...), "; ")
	return c
}

func (r *running) fdsRow() recording.Coverage {
	c, more := r.base(measureFDs)
	if !more {
		return c
	}
	c.Lost = r.book.left + r.book.losses.notes
	caps, err := kernel.Capabilities(r.env.Proc)
	switch {
	case err == nil && !caps.Has(unix.CAP_SYS_PTRACE):
		c.State, c.Cure = recording.CoveragePartial, curePtrace
		c.Why = "names of files and the processes at other ends can't be read of every process"
	case c.Lost > 0:
		c.State, c.Why = recording.CoveragePartial, fmt.Sprintf("%d descriptors have no row: there were too many", c.Lost)
	case r.book.reader.Failed() != nil:
		c.State, c.Why = recording.CoveragePartial, "who is at the other end of sockets: "+r.book.reader.Failed().Error()
	}
	return c
}

func (r *running) peekRow() recording.Coverage {
	c, more := r.base(measurePeek)
	if r.env.Peek == 0 {
		return recording.Coverage{Probe: measurePeek, State: recording.CoverageOff, Why: "no payload is looked into unless it is asked for", Cure: "snag syscalls --peek 64"}
	}
	if !more {
		return c
	}
	c.Lost = r.book.losses.conns
	c.Why = fmt.Sprintf("the first bytes of connections that began meanwhile, up to %d of a buffer; %d names were learnt, nothing else is kept", min(r.env.Peek, mostPeek), r.book.named)
	if c.Lost > 0 {
		c.State, c.Why = recording.CoveragePartial, fmt.Sprintf("%d connections were not looked into: there were over 4096 at a time; ", c.Lost)+c.Why
	}
	return c
}

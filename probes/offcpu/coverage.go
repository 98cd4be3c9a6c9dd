package offcpu

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"snag/internal/kernel"
	"snag/recording"
)

// The measures.
const (
	measureWaits  = name + ".waits"
	measureStacks = name + ".stacks"
	measureLocks  = "locks.futex"
	measureOwner  = "locks.owner"
)

const curePtrace = "run as root, or give the binary CAP_SYS_PTRACE: setcap cap_sys_ptrace+ep snag"

// coverage appends a row for the probe and for each of its measures. The last ones
// written count.
func (r *running) coverage() {
	for _, c := range r.rows() {
		c.Since = r.since
		c.Late = r.late.Seconds()
		r.env.Sink.Append(c)
	}
}

func (r *running) rows() []recording.Coverage {
	whole := recording.Coverage{Probe: name, State: recording.CoverageOK, Cost: r.cost}
	var lack *kernel.Lack
	switch {
	case errors.As(r.failed, &lack):
		whole.State, whole.Why, whole.Cure = recording.CoverageUnavailable, lack.Why, lack.Cure
	case r.failed != nil:
		whole.State, whole.Why = recording.CoverageFailed, r.failed.Error()
	case r.since == 0:
		whole.State, whole.Why = recording.CoverageOff, "no process needed that close a look"
		whole.Cure = "name one: snag find --pid PID; snag profile --off --pid PID"
	case r.over:
		whole.State = recording.CoveragePartial
		whole.Why = fmt.Sprintf("it ended before the recording did: the probes' budget was spent (%.1f %% of the CPUs, and of each of them)", 100*r.env.Budget.Share())
		whole.Cure = "a higher --budget"
	case r.lost[lostThreads] > 0:
		whole.State, whole.Lost = recording.CoveragePartial, r.lost[lostThreads]
		whole.Why = fmt.Sprintf("%d times a thread left the CPU and found no room: more than 16,384 threads", whole.Lost)
	}
	rows := []recording.Coverage{whole}
	for _, c := range []recording.Coverage{r.waitsRow(), r.stacksRow(), r.locksRow(), r.ownerRow()} {
		if whole.State != recording.CoverageOK && (whole.State != recording.CoveragePartial || c.State == recording.CoverageOK) {
			c.State, c.Why, c.Cure = whole.State, whole.Why, whole.Cure
		}
		rows = append(rows, c)
	}
	return rows
}

// waitsRow says which waits count: the threshold stands in it whatever the state.
func (r *running) waitsRow() recording.Coverage {
	c := recording.Coverage{Probe: measureWaits, State: recording.CoverageOK, Lost: r.lost[lostWaits] + r.left.waits}
	c.Why = fmt.Sprintf("waits of %v and more are counted", r.left.threshold)
	if r.left.threshold > leastThreshold {
		c.Why += fmt.Sprintf(": the threshold was raised from %v to keep within the budget", leastThreshold)
	}
	// The kernel of a sandbox may run no program when one of the sandbox's own threads leaves
	// a CPU to another: too few to change a picture.
	if n := r.lost[lostReturns]; n > 0 {
		c.Why += fmt.Sprintf("; %d are left out, as the kernel did not announce their ends", n)
	}
	switch {
	case c.Lost > 0:
		c.State = recording.CoveragePartial
		c.Why += fmt.Sprintf("; %d found no room", c.Lost)
	case r.left.unseeded != nil:
		c.State = recording.CoveragePartial
		c.Why += "; what slept before it was looked at was not read: " + r.left.unseeded.Error()
	case r.left.unmeasured != nil:
		c.Why += "; what the programs cost is not known: " + r.left.unmeasured.Error()
	}
	return c
}

func (r *running) stacksRow() recording.Coverage {
	c := recording.Coverage{Probe: measureStacks, State: recording.CoverageOK, Lost: r.lost[lostStacks] + r.lost[noToken] + r.env.Stacks.Left()}
	switch {
	case 100*c.Lost > r.lost[taken]: // fewer than one in a hundred change no picture
		c.State = recording.CoveragePartial
		c.Why = fmt.Sprintf("%d stacks fell into one slot with another, %d waits have none as a thread gets at most %d stacks per second, %d found no room",
			r.lost[lostStacks], r.lost[noToken], r.left.rate, r.env.Stacks.Left())
	case r.names.KernelErr() != nil && r.since != 0:
		c.State, c.Why = recording.CoveragePartial, "the kernel's functions have no names: "+r.names.KernelErr().Error()
	}
	return c
}

func (r *running) locksRow() recording.Coverage {
	c := recording.Coverage{Probe: measureLocks, State: recording.CoverageOK, Lost: r.lost[lostLocks] + r.lost[lostLong] + r.lost[lostHands] + r.left.events}
	switch {
	case c.Lost > 0:
		c.State = recording.CoveragePartial
		c.Why = fmt.Sprintf("%d waits for locks found no room; %d long ones have no event; %d times a lock passed on and was not followed", r.lost[lostLocks], r.lost[lostLong]+r.left.events, r.lost[lostHands])
	case r.left.locks > 0:
		c.State = recording.CoveragePartial
		c.Why = fmt.Sprintf("%d locks and conditions were left out: the %d that were waited for longest are reported each second", r.left.locks, mostLocks)
	}
	return c
}

func (r *running) ownerRow() recording.Coverage {
	c := recording.Coverage{Probe: measureOwner, State: recording.CoverageOK}
	err := r.left.refused
	if err == nil {
		return c
	}
	c.State, c.Why = recording.CoveragePartial, err.Error()
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EPERM) {
		c.State, c.Cure = recording.CoverageUnavailable, curePtrace
	}
	return c
}

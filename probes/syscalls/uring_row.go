package syscalls

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"snag/internal/kernel"
	"snag/recording"
)

// uringRow says how far io_uring's operations were seen.
func (r *running) uringRow() recording.Coverage {
	c, more := r.base(measureUring)
	if !more {
		return c
	}
	if r.kernel.ringless {
		c.Why = "this kernel was built without io_uring: there are no operations"
		return c
	}
	if l := r.kernel.unseen; l != nil {
		c.State, c.Why, c.Cure, c.Since = recording.CoverageUnavailable, l.Why, l.Cure, 0
		if n := ringsOf(r.env.Proc, r.wanted()); n > 0 {
			c.Why += fmt.Sprintf("; of the processes looked at %d have rings of io_uring, and what they do there is not seen", n)
		}
		return c
	}
	n := r.book.losses
	c.Lost = n.operations + n.overflown
	var why []string
	if r.stopped != "" {
		c.State, why = recording.CoveragePartial, append(why, r.stopped)
	}
	if n.operations > 0 {
		c.State = recording.CoveragePartial
		why = append(why, fmt.Sprintf("%d operations over the %d that have room in flight have no time, and before Linux 5.18 are not counted", n.operations, mostOperations))
	}
	if n.overflown > 0 {
		c.State = recording.CoveragePartial
		why = append(why, fmt.Sprintf("%d completions found the program's completion queue full: the kernel may not have reported what they were", n.overflown))
	}
	if n.same > 0 {
		c.State = recording.CoveragePartial
		why = append(why, fmt.Sprintf("%d operations had the user_data of another in flight, by which alone this kernel tells them apart: their names and times may be each other's", n.same))
	}
	c.Why = strings.Join(why, "; ")
	return c
}

// inFlight are the operations that go on. Of a process that has ended, and where
// completions went by unseen, what is left in the table tells nothing.
func (r *running) inFlight(now uint64) (out []kernelOp) {
	if n, err := r.kernel.losses(); err != nil || n.overflown > 0 {
		return nil
	}
	err := kernel.Walk(r.kernel.objects.Operations, "io_uring", func(_ *kernelOpKey, o *kernelOp) {
		if o.In.Begin == 0 || o.In.Begin > now {
			return
		}
		if _, err := os.Stat(filepath.Join(r.env.Proc, strconv.Itoa(int(o.In.Pid)))); err == nil {
			out = append(out, *o)
		}
	})
	if err != nil {
		r.fail(err)
	}
	return out
}

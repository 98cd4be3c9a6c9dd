package oncpu

import (
	"fmt"
	"path"

	"snag/probes/symbols"
	"snag/recording"
)

// judge reports how well one stack was walked and named; cut is why it ends early.
func judge(kernel, user []symbols.Frame, cut string) quality {
	q := quality{samples: 1, frames: float64(len(kernel) + len(user))}
	for _, f := range append(kernel[:len(kernel):len(kernel)], user...) {
		if f.Named {
			q.named++
			continue
		}
		if q.unnamedIn == nil {
			q.unnamedIn = map[string]float64{}
		}
		q.unnamedIn[f.Object]++
	}
	if cut != "" && len(user) > 0 {
		q.cut = 1
		q.cutIn = map[string]float64{user[len(user)-1].Object: 1}
	}
	return q
}

const (
	// goodNames: with fewer of its frames named, a profile hides what it is for.
	goodNames = 0.9
	// goodWalks: with more of its stacks cut, callers get too little.
	goodWalks = 0.1
)

// coverage appends a row for the probe and for each of its measures. The last
// ones written count.
func (r *running) coverage() {
	for _, c := range []recording.Coverage{r.wholeRow(), r.kernelRow(), r.stacksRow(), r.symbolsRow(), r.loopsRow()} {
		c.Since, c.Late = r.since, r.late.Seconds()
		r.env.Sink.Append(c)
	}
}

func (r *running) wholeRow() recording.Coverage {
	c := recording.Coverage{Probe: name, State: recording.CoverageOK, Cost: r.cost, Lost: r.sweep.totals[totalLost] + r.tally.left}
	switch {
	case r.failed != nil:
		c.State, c.Why = recording.CoverageFailed, r.failed.Error()
	case c.Lost > 0:
		c.State, c.Why = recording.CoveragePartial, fmt.Sprintf("%d samples could not be counted: too many threads and stacks in one second", c.Lost)
		c.Cure = "name one process: snag profile --pid"
	}
	return c
}

func (r *running) kernelRow() recording.Coverage {
	c := r.wholeRow()
	c.Probe, c.Cost = "oncpu.kernel", 0
	if c.State == recording.CoverageFailed {
		return c
	}
	if r.env.Whole && len(r.env.Target.PIDs) > 0 {
		return recording.Coverage{Probe: c.Probe, State: recording.CoverageOff, Why: "only the processes asked for were sampled", Cure: "snag find, or snag profile --all"}
	}
	if err := r.names.KernelErr(); err != nil {
		return recording.Coverage{Probe: c.Probe, State: recording.CoverageUnavailable, Why: err.Error(), Cure: "run as root with CAP_SYSLOG, and sysctl kernel.kptr_restrict=1 at most"}
	}
	return c
}

func (r *running) stacksRow() recording.Coverage {
	c := recording.Coverage{Probe: "oncpu.stacks", State: recording.CoverageOK, Lost: r.sweep.totals[totalStacks] + r.noRoom + r.env.Stacks.Left()}
	q := r.quality
	all := q.samples + r.light + r.missing
	switch {
	case r.failed != nil:
		c.State, c.Why = recording.CoverageFailed, r.failed.Error()
	case q.samples > 0 && q.cut/q.samples > goodWalks:
		object, n := most(q.cutIn)
		c.State = recording.CoveragePartial
		c.Cure = "build it with -fno-omit-frame-pointer; start a JVM with -XX:+PreserveFramePointer, Node with --perf-basic-prof"
		why := "code without call frame information, or " + symbols.CutCopy
		if !r.env.Unwind {
			why, c.Cure = "code without frame pointers", "snag profile --dwarf, or "+c.Cure
		}
		c.Why = fmt.Sprintf("%.0f %% of the samples have a stack that ends early, without its outer callers: %s, %.0f %% in %s", 100*q.cut/q.samples, why, 100*n/q.cut, short(object))
	case c.Lost > 0 || r.missing > goodWalks*all:
		c.State = recording.CoveragePartial
		c.Why = fmt.Sprintf("%.0f %% of the samples have no stack; %d stacks found no room", 100*r.missing/max(all, 1), c.Lost)
		c.Cure = "name one process: snag profile --pid"
	}
	return c
}

func (r *running) symbolsRow() recording.Coverage {
	c := recording.Coverage{Probe: "oncpu.symbols", State: recording.CoverageOK}
	q := r.quality
	switch {
	case q.frames > 0 && q.named/q.frames < goodNames:
		object, n := most(q.unnamedIn)
		c.State = recording.CoveragePartial
		c.Why = fmt.Sprintf("%.0f %% of the frames have a name; of those without, %.0f %% lie in %s", 100*q.named/q.frames, 100*n/(q.frames-q.named), short(object))
		c.Cure = cureOf(object)
	case r.unheld > 0:
		c.State = recording.CoveragePartial
		c.Why = fmt.Sprintf("%d processes began at once: what they ran may have no names", r.unheld)
		c.Cure = "name one process: snag profile --pid"
	case r.env.Inlined && r.names.InlinedMissing() != "":
		c.State = recording.CoveragePartial
		c.Why = "functions that were inlined are not shown of all programs: " + r.names.InlinedMissing()
		c.Cure = "build it with -g, or install the debug symbols of its package"
	}
	return c
}

func cureOf(object string) string {
	switch object {
	case "":
		return "processes that end within a moment leave nothing to name their addresses by; of others: run as root, or add CAP_SYS_PTRACE"
	case "[anon]":
		return "code made at run time: snag profile --jit-maps for a JVM (17 or later), node --perf-basic-prof"
	}
	return "install the debug symbols of its package, or build it without strip"
}

func short(object string) string {
	if object == "" {
		return "places that are not known"
	}
	return path.Base(object)
}

// most is the key with the greatest value, the first by name of equal ones.
func most(of map[string]float64) (string, float64) {
	best, n := "", -1.0
	for k, v := range of {
		if v > n || v == n && k < best {
			best, n = k, v
		}
	}
	return best, max(n, 0)
}

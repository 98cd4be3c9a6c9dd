package perf

import (
	"fmt"
	"strings"

	"snag/readers/reader"
	"snag/recording"
)

// told says what the profile measured.
func (t *tally) told(format string, p placed) reader.Told {
	out := reader.Told{Machine: reader.Machine{CPUs: t.cpus}}
	if t.first >= 0 {
		out.First, out.Last = recording.Time(t.first), recording.Time(t.last)
	}
	stacks := recording.Coverage{Probe: "oncpu.stacks", State: recording.CoverageOK, Since: out.First, Lost: t.lost}
	if p.why != "" {
		partial(&stacks, "%s", p.why)
		cure(&stacks, p.cure)
	}
	if t.waits > 0 {
		out.Coverage = []recording.Coverage{{Probe: "offcpu.waits", State: recording.CoveragePartial, Since: out.First, Why: "those that the file has: over which threshold it does not say"}}
		if t.samples == 0 {
			return out
		}
	}
	if t.samples+t.idle == 0 {
		stacks.State = recording.CoverageFailed
		partial(&stacks, "there is no sample in the file")
	}
	if t.stackless > 0 {
		partial(&stacks, "%d of %d samples have no stack", t.stackless, t.samples)
		cure(&stacks, "perf record -g")
	}
	if t.shortened > 0 {
		partial(&stacks, "of %d samples the function that ran is known without its callers: there are more different stacks than are kept (%d, and %d MB of names), and theirs are the rarest", t.shortened, mostStacks, mostWritten>>20)
	}
	if t.threadless > 0 {
		partial(&stacks, "%d samples are counted by the name of their thread alone: there are more threads and stacks than are kept (%d in a second, or in what a row is of)", t.threadless, mostRowsEach)
	}
	if t.lost > 0 {
		partial(&stacks, "%d times off the CPUs were not counted: there are more threads and stacks than are kept (%d)", t.lost, mostThreads)
	}
	if t.deep > 0 {
		partial(&stacks, "%d stacks were cut at %d frames", t.deep, mostDepth)
	}
	if t.idle > 0 && t.main != nil && t.main.kind == busy {
		partial(&stacks, "%d samples of idle CPUs are left out", t.idle)
	}
	if t.cell.length > 1e9 {
		partial(&stacks, "later rows are of %d s each: the profile is long", t.cell.length/1e9)
	}
	out.Coverage = append([]recording.Coverage{stacks, t.kernelCoverage(format, out.First), t.symbolCoverage(out.First)}, out.Coverage...)
	return out
}

// kernelCoverage is that of the kernel's functions, by time.
func (t *tally) kernelCoverage(format string, since recording.Time) recording.Coverage {
	c := recording.Coverage{Probe: "oncpu.kernel", State: recording.CoverageOK, Since: since}
	switch {
	case t.main == nil:
		c.State, c.Why = recording.CoverageUnavailable, "none of its events stands for time on a CPU: "+t.eventNames()
		c.Cure = "perf record -a -g -e cpu-clock"
	case t.main.kind == busy && t.main.name != foldedEvent:
		partial(&c, "%s counts while a CPU runs: shares are of the busy time, not of all", t.main.name)
	case format != "perf script" && format != "perf.data":
		partial(&c, "%s do not say who was sampled: idle CPUs may be missing", format)
	}
	return c
}

const mostNamed = 8 // events that are listed

func (t *tally) eventNames() string {
	var names []string
	for _, e := range t.sampled[:min(len(t.sampled), mostNamed)] {
		names = append(names, e.name)
	}
	return strings.Join(names, ", ")
}

// fewNames: nine of ten frames should have a name.
const fewNames = 0.9

// symbolCoverage is that of the frames' names; its words are those of the live probe.
func (t *tally) symbolCoverage(since recording.Time) recording.Coverage {
	c := recording.Coverage{Probe: "oncpu.symbols", State: recording.CoverageOK, Since: since}
	all := t.named + t.unnamed
	if all == 0 {
		c.State, c.Why = recording.CoverageUnavailable, "no sample has a stack"
		return c
	}
	if share := float64(t.named) / float64(all); share < fewNames {
		worst, n := "", uint64(0)
		for object, m := range t.unnamedIn {
			if *m > n || *m == n && object < worst {
				worst, n = object, *m
			}
		}
		if worst == "" {
			worst = "memory that no file is known of"
		}
		partial(&c, "%.0f %% of the frames have a name; of those without, %.0f %% lie in %s", 100*share, 100*float64(n)/float64(t.unnamed), worst)
		cure(&c, "on the host that recorded, with the debug symbols installed: perf script --header -F +pid")
	}
	return c
}

// facts puts a time on what the file's header told.
func (t *tally) facts(all []recording.Fact) []recording.Fact {
	for i := range all {
		all[i].T = recording.Time(max(t.first, 0))
	}
	return all
}

// partial adds a sentence to a coverage.
func partial(c *recording.Coverage, format string, args ...any) {
	if c.State == recording.CoverageOK {
		c.State = recording.CoveragePartial
	}
	if c.Why != "" {
		c.Why += "; "
	}
	c.Why += fmt.Sprintf(format, args...)
}

// cure adds what to do about it.
func cure(c *recording.Coverage, text string) {
	switch {
	case text == "":
	case c.Cure == "":
		c.Cure = text
	default:
		c.Cure += "; " + text
	}
}

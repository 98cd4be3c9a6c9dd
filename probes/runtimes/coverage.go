package runtimes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"snag/internal/kernel"
	"snag/recording"
)

// The measures.
const (
	measureLocks = name + ".go-locks"
	measureStops = name + ".go-stops"
	measureOther = name + ".others"
)

// cures are what would tell from inside what can't be seen from outside, by runtime.
var cures = map[runtime]string{
	node:   "names: node --perf-basic-prof (writes /tmp/perf-PID.map, which snag reads); pauses: node --trace-gc; the loop: node --cpu-prof",
	python: "names: python3.12 -X perf (or PYTHONPERFSUPPORT=1; writes /tmp/perf-PID.map, which snag reads); threads: py-spy dump --pid PID",
	ruby:   "names: ruby --yjit --yjit-perf (3.3 and later; writes /tmp/perf-PID.map); pauses: GC::Profiler",
	dotnet: "names: DOTNET_PerfMapEnabled=1 (writes /tmp/perf-PID.map, which snag reads); pauses: dotnet-counters monitor -p PID",
}

func (r *running) coverage() {
	for _, c := range []recording.Coverage{
		{Probe: name, State: recording.CoverageOK, Cost: r.cost},
		r.goRow(measureLocks, r.env.GoLocks, "--go-locks (or snag find, of the Go programs that it looks at closer)"),
		r.goRow(measureStops, r.env.GoRuntime, "--go-runtime; or GODEBUG=gctrace=1 in its environment"),
		r.othersRow(),
	} {
		c.Since, c.Late = r.began, r.late.Seconds()
		if r.since != 0 && c.Probe != measureOther && c.Probe != name {
			c.Since = r.since
		}
		r.env.Sink.Append(c)
	}
}

// goRow says whether Go programs were looked into, and why not.
func (r *running) goRow(measure string, asked bool, cure string) recording.Coverage {
	c := recording.Coverage{Probe: measure, State: recording.CoverageOK}
	var why []string
	for pid, err := range r.failed {
		if alive(r.env.Proc, pid) {
			why = append(why, err.Error())
		}
	}
	slices.Sort(why)
	var lack *kernel.Lack
	switch {
	case !asked:
		c.State, c.Cure = recording.CoverageOff, cure
		c.Why = "not asked for: it puts a breakpoint into the program"
	case errors.As(r.lack, &lack):
		c.State, c.Why, c.Cure = recording.CoverageUnavailable, lack.Why, lack.Cure
	case r.lack != nil:
		c.State, c.Why = recording.CoverageFailed, r.lack.Error()
	case r.over != "":
		c.State, c.Cure = recording.CoveragePartial, "a higher --budget"
		c.Why = "it ended before the recording did: " + r.over
	case r.since == 0 && len(why) == 0:
		c.State, c.Why, c.Cure = recording.CoverageOff, "no Go program needed that close a look", "name one: --pid"
	case len(r.traced) == 0 && len(why) > 0:
		c.State, c.Why = recording.CoverageUnavailable, strings.Join(why[:min(len(why), 2)], "; ")
	case len(why) > 0:
		c.State, c.Why = recording.CoveragePartial, strings.Join(why[:min(len(why), 2)], "; ")
	}
	if c.State != recording.CoverageOff && measure == measureLocks {
		c.Lost = r.lost
		if c.State == recording.CoverageOK && r.unmeasured != nil {
			c.Why = fmt.Sprintf("what a breakpoint costs here is not known, and taken for %.0f µs: %v", 1e6*r.trap, r.unmeasured)
		}
		if c.State == recording.CoverageOK && r.lost+r.left > 0 {
			c.State = recording.CoveragePartial
			c.Why = fmt.Sprintf("%d unlocks found no room; %d mutexes beyond the %d that are reported each second", r.lost, r.left, mostRows)
		}
	}
	return c
}

// othersRow names the processes that are looked at and whose runtime keeps to itself
// what they do.
func (r *running) othersRow() recording.Coverage {
	c := recording.Coverage{Probe: measureOther, State: recording.CoverageOK}
	by := map[runtime][]string{}
	for pid, kind := range r.kinds {
		if cures[kind] != "" && alive(r.env.Proc, pid) {
			by[kind] = append(by[kind], fmt.Sprintf("%s[%d]", comm(r.env.Proc, pid), pid))
		}
	}
	var why, cure []string
	for _, kind := range []runtime{node, python, ruby, dotnet} {
		if len(by[kind]) == 0 {
			continue
		}
		slices.Sort(by[kind])
		why = append(why, fmt.Sprintf("%s is a program of %s: its functions have no names from outside, its pauses and its event loop are not seen", strings.Join(by[kind][:min(3, len(by[kind]))], ", "), kind))
		cure = append(cure, cures[kind])
	}
	if len(why) > 0 {
		c.State, c.Why, c.Cure = recording.CoveragePartial, strings.Join(why, "; "), strings.Join(cure, "; ")
	}
	return c
}

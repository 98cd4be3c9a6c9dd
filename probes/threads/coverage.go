package threads

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"snag/recording"
)

const (
	curePtrace = "run as root, or give the binary CAP_SYS_PTRACE: setcap cap_sys_ptrace+ep snag"
	cureKernel = "use a kernel built with "
)

// coverage appends a row for the probe and for each of its measures.
func (s *sampler) coverage() {
	for _, c := range s.rows() {
		c.Since = s.since
		c.Late = s.late.Seconds()
		s.env.Sink.Append(c)
	}
}

func (s *sampler) rows() []recording.Coverage {
	whole := recording.Coverage{Probe: name, State: recording.CoverageOK, Cost: s.cost}
	switch {
	case s.looked == 0 && s.read.state.n > 0:
		whole = s.read.state.row(name, "CONFIG_PROC_FS=y")
		whole.Cost = s.cost
	case s.looked == 0:
		// Nothing was looked at, so nothing may be cleared by this silence.
		whole.State, whole.Why = recording.CoverageOff, "no process was watched"
		whole.Cure = "name one: --pid, --unit or --port"
	case s.left > 0:
		whole.State = recording.CoveragePartial
		whole.Why = fmt.Sprintf("%d of %d samples of threads were left out: at most %d threads of a process and %d in all are sampled each second",
			s.left, s.left+s.looked, mostThreads, mostAll)
	}
	if s.looked == 0 {
		return []recording.Coverage{whole}
	}
	state, syscall := s.read.state.row(name+".state", ""), s.syscallRow()
	if state.State == recording.CoverageOK && s.read.wchan.n > 0 {
		// The state is known, where in the kernel it waits is not.
		state.State = recording.CoveragePartial
		state.Why, state.Cure = "the kernel function: "+s.read.wchan.first.Error(), curePtrace
	}
	rows := []recording.Coverage{whole, state, syscall, s.read.sched.row(name+".sched", "CONFIG_SCHED_INFO=y")}
	for i := range rows[1:] { // what was left out was left out of each
		if r := &rows[1+i]; s.left > 0 && r.State == recording.CoverageOK {
			r.State, r.Why = whole.State, whole.Why
		}
	}
	return rows
}

func (s *sampler) syscallRow() recording.Coverage {
	if syscallNames == nil {
		return recording.Coverage{
			Probe: name + ".syscall", State: recording.CoverageUnavailable,
			Why: "the system calls' numbers of " + runtime.GOARCH + " are not known to snag", Cure: "use snag on amd64 or arm64",
		}
	}
	return s.read.syscall.row(name+".syscall", "CONFIG_HAVE_ARCH_TRACEHOOK")
}

// row says how much of a kind of file could be read. option is what the kernel
// must be built with to have it.
func (r refusals) row(measure, option string) recording.Coverage {
	c := recording.Coverage{Probe: measure, State: recording.CoverageOK}
	if r.n == 0 {
		return c
	}
	c.State = recording.CoveragePartial
	c.Why = fmt.Sprintf("%d of %d refused: %v", r.n, r.of, r.first)
	if r.n == r.of {
		c.State = recording.CoverageUnavailable
	}
	switch {
	case errors.Is(r.first, errAbsent):
		c.Cure = cureKernel + option
	case errors.Is(r.first, fs.ErrPermission):
		c.Why += " (needs CAP_SYS_PTRACE)"
		c.Cure = curePtrace
	}
	return c
}

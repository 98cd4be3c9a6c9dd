package jvm

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"snag/recording"
)

const (
	curePrivilege = "run as root, or give the binary CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH: setcap cap_sys_ptrace,cap_dac_read_search+ep snag"
	cureFile      = "start it without -XX:-UsePerfData and -XX:+PerfDisableSharedMem; meanwhile: jcmd PID VM.log what=safepoint,gc"
)

// comm is the name of a process; "" once it has ended.
func comm(proc string, pid int) string {
	b, err := os.ReadFile(proc + "/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// coverage says which JVMs were not read, and why. None here is measured: all
// processes were looked at.
func (s *sampler) coverage() recording.Coverage {
	c := recording.Coverage{Probe: name, State: recording.CoverageOK, Since: s.since, Late: s.late.Seconds(), Cost: s.cost}
	var why []string
	add := func(cure, format string, args ...any) {
		why = append(why, fmt.Sprintf(format, args...))
		if c.Cure == "" {
			c.Cure = cure
		}
	}
	if s.find.hidden > 0 {
		add(curePrivilege, "%d processes may not be looked into: %v", s.find.hidden, s.find.refused)
	}
	if bare := s.bare(); len(bare) > 0 {
		add(cureFile, "no hsperfdata of %s", strings.Join(bare, ", "))
	}
	for _, m := range s.all {
		switch {
		case m.err != nil:
			add("jstat -gc "+strconv.Itoa(m.pid), "%v", m.err)
		case m.torn > 0 || m.overflow > 0:
			add("-XX:PerfDataMemorySize=64k", "process %d keeps only a part of its counters: %d of %s were cut off, %d bytes found no room", m.pid, m.torn, m.path, m.overflow)
		}
	}
	if s.left > 0 {
		add("name one: --pid", "%d JVMs beyond the %d that are read", s.left, mostJVMs)
	}
	if s.find.left > 0 {
		add("", "%d mount namespaces beyond the %d that are searched at a time", s.find.left, mostNamespaces)
	}
	if len(why) > 0 {
		c.State = recording.CoveragePartial
		slices.Sort(why)
		c.Why = strings.Join(why[:min(len(why), 3)], "; ")
		if len(why) > 3 {
			c.Why += fmt.Sprintf("; and %d more", len(why)-3)
		}
	}
	return c
}

// bare names the processes that run java and have no counters; those that have
// just begun, or ended since, are none.
func (s *sampler) bare() []string {
	var out []string
	for pid := range s.find.bare {
		if text := comm(s.env.Proc, pid); text != "" && s.all[pid] == nil {
			out = append(out, fmt.Sprintf("%s[%d]", text, pid))
		}
	}
	slices.Sort(out)
	if len(out) > 5 {
		out = append(out[:5], fmt.Sprintf("%d more", len(out)-5))
	}
	return out
}

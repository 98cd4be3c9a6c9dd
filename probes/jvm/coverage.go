package jvm

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"snag/recording"
)

const (
	curePrivilege = "run as root, or give the binary CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH: setcap cap_sys_ptrace,cap_dac_read_search+ep snag"
	cureJ9        = "OpenJ9 keeps no such counters: -Xverbosegclog:gc.log in its java arguments, and look there; or run it on HotSpot"
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
		add(curePrivilege, "%d processes can't be looked into: %v", s.find.hidden, s.find.refused)
	}
	if bare := s.bare(); len(bare) > 0 {
		text := strings.Join(bare, ", ")
		cure := cureFile
		if strings.Contains(text, "(OpenJ9)") {
			cure = cureJ9
		}
		add(cure, "no hsperfdata of %s", text)
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
			out = append(out, fmt.Sprintf("%s[%d]%s", text, pid, s.otherMachine(pid)))
		}
	}
	slices.Sort(out)
	if len(out) > 5 {
		out = append(out[:5], fmt.Sprintf("%d more", len(out)-5))
	}
	return out
}

// otherMachine names a virtual machine that has no such file at all.
func (s *sampler) otherMachine(pid int) string {
	if s.machines == nil {
		s.machines = map[int]string{}
	}
	if _, looked := s.machines[pid]; !looked && len(s.machines) < mostJVMs {
		file, err := os.Open(s.env.Proc + "/" + strconv.Itoa(pid) + "/maps")
		if err != nil {
			return ""
		}
		defer file.Close()
		s.machines[pid] = machineOf(file)
	}
	return s.machines[pid]
}

// machineOf tells by the libraries that a process has mapped.
func machineOf(maps io.Reader) string {
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		switch name := filepath.Base(lines.Text()); {
		case strings.HasPrefix(name, "libj9vm"): // libj9vm29.so
			return " (OpenJ9)"
		case name == "libjvm.so" && strings.Contains(lines.Text(), "/j9vm/"):
			return " (OpenJ9)"
		}
	}
	return ""
}

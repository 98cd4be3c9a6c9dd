package host

import (
	"fmt"

	"snag/internal/procroot"
	"snag/recording"
)

// nearLimit is the share of RLIMIT_NOFILE at which a process is watched: the
// rest may be gone within a minute of a reconnect storm.
const nearLimit = 0.8

// atLimit is the share from which its calls may fail soon: what they return is
// then worth a look.
const atLimit = 0.9

func (p *processes) write(t recording.Time, one *process, stat procStat) {
	p.read.describe(one)
	row := p.row(t, one, stat)
	closer := one.busy || p.env.Watch.Has(one.pid)
	p.read.row(one, &row, p.env.Continuous && !closer)
	if closer {
		p.read.more(one.pid, &row)
	}
	if row.FDs == nil {
		p.meter.note("host.processes", "the open files of some processes of other users were not counted", "run as root, or give the binary CAP_SYS_PTRACE")
	} else if row.FDLimit > 0 && float64(*row.FDs) >= nearLimit*float64(row.FDLimit) {
		if !p.env.Watch.Add(one.pid, fmt.Sprintf("%d of %d files open", *row.FDs, row.FDLimit)) {
			p.meter.note("host.processes", "processes near their limit of open files were not watched: the list is full", "")
		}
		if float64(*row.FDs) >= atLimit*float64(row.FDLimit) {
			p.env.Watch.Failing(one.pid)
		}
	}
	p.env.Sink.Append(row)
}

// writeAt writes what was seen of a process before it was worth a row.
func (p *processes) writeAt(one *process, before use) {
	p.read.describe(one)
	row := p.row(before.t, one, before.stat)
	if data, err := p.read.read(one.pid, "cgroup"); err == nil {
		one.group, row.Unit, one.groups = parseCgroups(data)
		row.Cgroup, row.Groups = one.group.Path, one.groups
	}
	if before.disk.t == before.t {
		before.disk.fill(&row)
	}
	p.env.Sink.Append(row)
}

// policies are the scheduling policies by their numbers (include/uapi/linux/sched.h).
var policies = map[int]string{1: "fifo", 2: "rr", 3: "batch", 5: "idle", 6: "deadline"}

// row is what /proc/PID/stat tells of a process, and what was described of it.
func (p *processes) row(t recording.Time, one *process, stat procStat) recording.Process {
	return recording.Process{
		T: t, PID: one.pid, PPID: stat.PPID, Comm: stat.Comm, Exe: one.exe, Cmdline: one.cmdline,
		Start: p.env.Anchor.FromBoottime(int64(stat.Start) * (1e9 / procroot.UserHZ)),
		State: string(stat.State), Threads: stat.Threads, Nice: stat.Nice, Policy: policies[stat.Policy], CPU: float64(stat.CPU) / procroot.UserHZ,
		ChildrenCPU: float64(stat.Waited) / procroot.UserHZ, MajorFaults: &stat.Major,
		Self: one.pid == p.env.SelfPID,
	}
}

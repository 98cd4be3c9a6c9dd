package host

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"snag/internal/netns"
	"snag/recording"
)

// setting is what of a process stays the same mostly: it is read at least once a minute.
type setting struct {
	read       recording.Time // when it was read; 0: never
	comm       string         // the program then
	uid        int
	netns      uint64
	unit       string
	cgroup     string
	groups     map[string]string // of other hierarchies, where they differ
	soft, hard int               // limits of open files
}

// holdsFor is how long a setting is taken for the present one in a continuous recording.
const holdsFor = time.Minute

// due reports whether it is read again.
func (s *setting) due(t recording.Time, comm string) bool {
	return s.read == 0 || s.comm != comm || t.Sub(s.read) >= holdsFor
}

// row reads what a row of the processes table has beyond stat. hold has it take what was read
// within the last minute where that seldom changes.
func (r *procReader) row(p *process, row *recording.Process, hold bool) {
	if !hold || p.setting.due(row.T, p.comm) {
		r.set(p, row.T)
	}
	s := &p.setting
	row.UID, row.Netns, row.Unit, row.FDLimit, row.FDHard = s.uid, s.netns, s.unit, s.soft, s.hard
	row.Cgroup, row.Groups = s.cgroup, s.groups
	row.FDs = r.fds(p.pid)
}

// set reads the setting of a process.
func (r *procReader) set(p *process, t recording.Time) {
	s := setting{read: t, comm: p.comm}
	var st unix.Stat_t
	if unix.Stat(r.root+"/"+strconv.Itoa(p.pid), &st) == nil {
		s.uid = int(st.Uid) // of the directory itself: the effective one, whatever dumpable says
	}
	if id, err := netns.IDOf(r.path(p.pid, "ns/net")); err == nil {
		s.netns = id
	} else if r.live && netns.InOwn(r.root, p.pid) {
		s.netns = r.own
	}
	if data, err := r.read(p.pid, "cgroup"); err == nil {
		p.group, s.unit, p.groups = parseCgroups(data)
		s.cgroup, s.groups = p.group.Path, p.groups
	}
	s.soft, s.hard = r.nofile(p.pid)
	p.setting = s
}

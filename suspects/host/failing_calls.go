package host

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/suspect"
)

// failingCalls are the calls of a service, or of a program, that failed with one error in one place.
type failingCalls struct {
	errno, place string
	calls        map[string]float64
	n            float64
	rows         []recording.CallError
}

// failsOnFile reports whether a row is of this suspect.
func failsOnFile(e recording.CallError) bool {
	if !strings.HasPrefix(e.Path, "/") && strings.Contains(e.Path, ":[") {
		return false // socket:[4711]: a write that a firewall refuses
	}
	switch e.Errno {
	case "EACCES", "EPERM", "ENOMEM":
		return e.Proto == "" && (e.Path != "" || e.Call == "clone" || e.Call == "fork" || e.Call == "mmap" || e.Call == "brk" || e.Call == "bind")
	case "EAGAIN":
		return e.Call == "clone" || e.Call == "fork"
	}
	return e.Proto == "" && slices.Contains(noRoom, e.Errno) && e.Call != "read" || e.Errno == "EIO" && e.Proto == "" && e.Path != ""
}

// whereFailed is where a call failed: a file system that has no room, else a folder.
func whereFailed(e recording.CallError) string {
	if slices.Contains(noRoom, e.Errno) && e.Mount != "" {
		return e.Mount
	}
	if at := strings.LastIndexByte(e.Path, '/'); at > 0 {
		return e.Path[:at]
	}
	if slices.Contains(noRoom, e.Errno) && !strings.Contains(e.Path, "/") {
		return "" // a file of the folder in which the process is, which is gone
	}
	return e.Path
}

// parents are who started each process, and its name: of one that ended before it was listed by
// how it ended.
func parents(s *scene.Scene, r *recording.Recording) (ppid map[int]int, comm map[int]string) {
	ppid, comm = map[int]int{}, map[int]string{}
	for _, x := range r.Exits {
		ppid[x.PID], comm[x.PID] = x.PPID, x.Comm
	}
	for _, p := range s.Processes {
		ppid[p.Subject.PID], comm[p.Subject.PID] = p.First().PPID, p.Subject.Comm
	}
	return ppid, comm
}

// sameServer is the first process of a server that a process belongs to, by its parents of the same
// name: one that has a process for each client loses the data of them all.
func sameServer(ppid map[int]int, comm map[int]string, pid int) int {
	for range len(ppid) {
		up := ppid[pid]
		if up <= 1 || comm[up] == "" || comm[up] != comm[pid] {
			break
		}
		pid = up
	}
	return pid
}

func gather(all []*failingCalls, e recording.CallError) []*failingCalls {
	place := whereFailed(e)
	i := slices.IndexFunc(all, func(c *failingCalls) bool {
		return c.errno == e.Errno && (c.place == place || slices.Contains(noRoom, e.Errno) && (place == "" || c.place == ""))
	})
	if i < 0 {
		i, all = len(all), append(all, &failingCalls{errno: e.Errno, place: place, calls: map[string]float64{}})
	}
	c := all[i]
	c.place = cmp.Or(c.place, place)
	c.n += float64(e.N)
	c.calls[e.Call] += float64(e.N)
	c.rows = append(c.rows, e)
	return all
}

// crew are the processes that serve together.
type crew struct {
	subject recording.Subject
	pids    map[int]bool
	known   func(pid int) *scene.Process
	behind  bool
}

func crewOf(s *scene.Scene, sub recording.Subject, pids []int) crew {
	c := crew{subject: sub, pids: map[int]bool{sub.PID: sub.PID != 0}, known: s.Process}
	for _, pid := range pids {
		c.pids[pid] = pid != 0
	}
	return c
}

// has reports whether a process is one of them: it is a child of one, or was too short for a row
// of its own and has the name.
func (c crew) has(e recording.CallError) bool {
	if c.pids[e.PID] {
		return true
	}
	p := c.known(e.PID)
	if p == nil {
		return e.Comm == c.subject.Comm && e.Netns == c.subject.Netns
	}
	last := p.Last()
	if c.pids[last.PPID] {
		return true
	}
	first := c.known(c.subject.PID)
	if first == nil {
		return false
	}
	// A worker of the same master. A supervisor may have started two programs of one name.
	f := first.Last()
	return last.PPID > 1 && last.PPID == f.PPID && last.Netns == f.Netns && p.Subject.Comm == c.subject.Comm && p.Alike() == first.Alike()
}

func (c crew) failing(r *recording.Recording) (all []*failingCalls) {
	for _, e := range r.CallErrors {
		if e.PID != 0 && failsOnFile(e) && c.has(e) {
			all = gather(all, e)
		}
	}
	return all
}

func (c crew) related(s *scene.Scene, f *failingCalls) (out []recording.Subject) {
	for _, e := range f.rows {
		if p := s.Process(e.PID); p != nil && e.PID != c.subject.PID && len(out) < measure.MostRelated && !slices.Contains(out, p.Subject) {
			out = append(out, p.Subject)
		}
	}
	return out
}

// crewsBehind are the services of this host that some processes ask.
func crewsBehind(s *scene.Scene, r *recording.Recording, own crew) (out []crew) {
	seen := map[scene.NodeID]bool{scene.IDOf(own.subject): true}
	for _, t := range r.Turns {
		if t.Role != "call" || !own.pids[t.PID] {
			continue
		}
		l := s.Callee(t)
		if l == nil || seen[l.ID] {
			continue
		}
		seen[l.ID] = true
		c := crewAt(s, l)
		c.behind = true
		out = append(out, c)
	}
	return out
}

// crewAt are the processes that serve at a listener.
func crewAt(s *scene.Scene, l *scene.Socket) crew {
	c := crewOf(s, l.Subject, nil)
	for _, p := range l.Owners {
		c.pids[p.Subject.PID] = true
	}
	return c
}

// hard tells of an error that no healthy program meets.
func (c *failingCalls) hard() bool { return slices.Contains(noRoom, c.errno) }

// onlyLogs reports whether nothing but lines of a log is lost, as far as names tell.
func (c *failingCalls) onlyLogs() bool {
	for _, e := range c.rows {
		if !strings.HasSuffix(e.Path, ".log") && !strings.HasPrefix(e.Path, "/var/log/") {
			return false
		}
	}
	return true
}

// text is what failed, in words.
func (c *failingCalls) text() string {
	call := ""
	for name, n := range c.calls {
		if call == "" || n > c.calls[call] || n == c.calls[call] && name < call {
			call = name
		}
	}
	last := c.rows[len(c.rows)-1]
	text := fmt.Sprintf("%s failed with %s (%s) %s times in %s", call, c.errno, c.meaning(), units.Count(c.n), units.Plural(c.seconds(), "second"))
	if last.Path != "" {
		text += ", lately on " + last.Path
	}
	return text
}

func (c *failingCalls) seconds() int {
	at := map[recording.Time]bool{}
	for _, e := range c.rows {
		at[e.T] = true
	}
	return len(at)
}

// meaning is what an error says, with what is free where that is known.
func (c *failingCalls) meaning() string {
	last := c.rows[len(c.rows)-1]
	where := ""
	if last.Mount != "" {
		where = " on " + last.Mount
	}
	switch c.errno {
	case "ENOSPC":
		if last.FreeFiles != nil && *last.FreeFiles == 0 {
			return "no inodes left" + where
		}
		if last.FreeBytes != nil {
			return fmt.Sprintf("no room left%s; %s free a moment later", where, units.Bytes(float64(*last.FreeBytes)))
		}
		return "no room left" + where
	case "EDQUOT":
		return "the quota is used up" + where
	case "EROFS":
		return "a read-only file system" + where
	case "EFBIG":
		return "the file is as large as it may be"
	case "EIO":
		return "the device failed" + where
	case "ENOMEM":
		return "no memory"
	case "EAGAIN":
		return "no more processes or threads allowed"
	}
	return "not permitted"
}

// remedy is what helps. What is in the way no command takes away surely.
func (c *failingCalls) remedy() suspect.Remedy {
	last := c.rows[len(c.rows)-1]
	mount, at := cmp.Or(last.Mount, "the file system"), ""
	if last.Mount != "" {
		at = " " + last.Mount
	}
	switch c.errno {
	case "ENOSPC":
		if last.FreeFiles != nil && *last.FreeFiles == 0 {
			return suspect.Remedy{Permanently: fmt.Sprintf("Remove small files of %s (du --inodes -xS%s | sort -n | tail), or a file system with more inodes.", mount, at), Program: "Fewer files."}
		}
		return suspect.Remedy{Permanently: fmt.Sprintf("Make room on %s (du -xh%s | sort -h | tail; removed and still open: lsof +L1). A larger volume, and an alarm at 80 %%.", mount, at), Program: "A bound for what fills it."}
	case "EDQUOT":
		return suspect.Remedy{Permanently: fmt.Sprintf("A larger quota (repquota%s; of a project: xfs_quota), or less of what its user has there.", at)}
	case "EROFS":
		return suspect.Remedy{Permanently: fmt.Sprintf("Find out why %s is read-only: dmesg -T | grep -iE 'error|remount'. Mend the device, then mount it for writing; or ReadWritePaths= in its unit.", mount)}
	case "EFBIG":
		return suspect.Remedy{Permanently: "LimitFSIZE= in its unit, or move the file away.", Program: "Split the file."}
	case "EIO":
		return suspect.Remedy{Permanently: "Replace the disk: dmesg -T names it. Move the service to another until then."}
	case "ENOMEM":
		return suspect.Remedy{Permanently: "More memory, or a higher limit: memory.max of its control group, vm.max_map_count, vm.overcommit_memory.", Program: "Find what grows."}
	case "EAGAIN":
		return suspect.Remedy{Permanently: "TasksMax= and LimitNPROC= in its unit.", Program: "Find what begins so many threads."}
	}
	return suspect.Remedy{Permanently: fmt.Sprintf("Let its user have%s (namei -l shows who may): chown, chmod, ReadWritePaths= in its unit, or the rule of SELinux or AppArmor that refuses (journalctl -k | grep -iE 'denied|apparmor').", " "+cmp.Or(last.Path, "the file"))}
}

func (c *failingCalls) next() string {
	last := c.rows[len(c.rows)-1]
	next := fmt.Sprintf("strace -f -Z -p %d", last.PID)
	if slices.Contains(noRoom, c.errno) && last.Mount != "" {
		next = fmt.Sprintf("df -h %[1]s; df -i %[1]s; ", last.Mount) + next
	}
	return next
}

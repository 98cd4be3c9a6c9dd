package suspects

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"snag/recording"
	"snag/scene"
)

var syscallFailing = &Suspect{
	Name:  "syscall-failing",
	Title: "system calls fail for a full disk, permissions or limits",
	About: "A service asks the kernel for something and is refused: no room or no inodes are left on a file system (ENOSPC), a quota is used up (EDQUOT), it was mounted read-only or became so after an error (EROFS), the device fails (EIO), a file may not be written or opened (EACCES, EPERM), a limit is reached (EFBIG, ENOMEM, EAGAIN of clone). " +
		"It answers with errors, or writes nothing any more, while its sockets and threads look healthy.",
	Needs: []Need{
		{Measure: "sockets.errors", Must: true, Why: "which calls failed, with which error, on which file; looked at for 3 s where answers are errors or a file system is full"},
		{Measure: "sockets.turns", Why: "which answers were errors, and when"},
		{Measure: "host.processes", Why: "which processes are the service's"},
	},
	For: []string{
		"decisive: its calls failed in the seconds in which its answers were errors, one at least for every fifth of these (of EACCES, EPERM, ENOMEM and EAGAIN: about one for each)",
		"strong: the same in a service of this host that it asks",
		"decisive: writes of files that are no logs, five or more or in two seconds or more, failed with ENOSPC, EDQUOT, EROFS, EFBIG or EIO; without clients who notice it that is a risk",
	},
	Against: []string{
		"decisive: the calls fail as often in seconds in which no answer was an error",
		"weak: only what it writes to its log fails",
		"trap: ENOENT, and EACCES or EPERM that no answer depends on: programs look for what may be there",
		"can't tell: errors of io_uring and of writes that the kernel does later; a process that ends before it serves; what failed while calls were not looked at",
	},
	LeadsTo: []Lead{{scene.FailedAnswers, 5 * time.Second}, {"error-answers", 5 * time.Second},
		{scene.StreamFreeze, 10 * time.Second}, {scene.StreamLate, 10 * time.Second}, {"server-stall", 10 * time.Second}},
	Remedy: "give it what it asks for: room, the right to the file, a higher limit. Verified by: the calls succeed, and its answers are no errors any more",
	Next:   "strace -f -Z -p PID   # only calls that fail; df -h; df -i; dmesg -T | tail",
	Weigh:  weighSyscallFailing,
}

const (
	// fewFailing calls are a program that tries something once.
	fewFailing = 5
	// Where no room is left, a second that is like the one before is enough: who writes a
	// file every few seconds fails no more often.
	secondsLost = 2
	// Behind an answer that is an error is a call that failed, or one that was not looked at;
	// a transaction that failed answers the rest of it with errors, too.
	callsPerFailure = 0.2
	// Calls that may fail in a healthy program hang together with answers where there are
	// about as many of both: from one for two answers to three for each, of retries.
	leastRefusals, mostRefusals = 0.5, 3
	// A call that fails this often as well where no answer is an error has nothing to do with them.
	asOften = 0.5
)

// noRoom are the errors that no healthy program meets: its data is lost.
var noRoom = []string{"ENOSPC", "EDQUOT", "EROFS", "EFBIG", "EIO"}

// failingCalls are the calls of a service, or of a program, that failed with one error in one place.
type failingCalls struct {
	errno, place string
	calls        map[string]float64
	n            float64
	rows         []recording.CallError
}

// failsOnFile tells whether a row is of this suspect.
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
	return e.Path
}

func gather(all []*failingCalls, e recording.CallError) []*failingCalls {
	place := whereFailed(e)
	i := slices.IndexFunc(all, func(c *failingCalls) bool { return c.errno == e.Errno && c.place == place })
	if i < 0 {
		i, all = len(all), append(all, &failingCalls{errno: e.Errno, place: place, calls: map[string]float64{}})
	}
	c := all[i]
	c.n += float64(e.N)
	c.calls[e.Call] += float64(e.N)
	c.rows = append(c.rows, e)
	return all
}

func weighSyscallFailing(s *scene.Scene, r *recording.Recording) []Finding {
	var out []Finding
	taken := map[int]bool{}
	for _, v := range scene.Services(s, r, "serve") {
		i := slices.IndexFunc(s.Symptoms, func(y scene.Symptom) bool {
			return y.Name == scene.FailedAnswers && scene.IDOf(y.Subject) == scene.IDOf(v.Subject)
		})
		if i < 0 {
			continue
		}
		own := crewOf(s, v.Subject, v.PIDs)
		behind := crewsBehind(s, r, own)
		for _, crew := range append([]crew{own}, behind...) {
			for _, c := range crew.failing(r) {
				for _, e := range c.rows {
					taken[e.PID] = true // what its answers do not depend on, they are not explained by
				}
				if f, ok := failedFor(v, s.Symptoms[i], crew, c); ok {
					f.Related = append(f.Related, crew.related(s, c)...)
					out = append(out, f)
				}
			}
		}
	}
	return append(out, unnoticed(s, r, taken)...)
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

// has tells whether a process is one of them: it is a child of one, or was too short for a row
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
	first := c.known(c.subject.PID) // a worker of the same master
	return first != nil && last.PPID > 1 && last.PPID == first.Last().PPID && p.Subject.Comm == c.subject.Comm
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
		if p := s.Process(e.PID); p != nil && e.PID != c.subject.PID && len(out) < mostRelated && !slices.Contains(out, p.Subject) {
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
		c := crewOf(s, l.Subject, nil)
		for _, p := range l.Owners {
			c.pids[p.Subject.PID] = true
		}
		c.behind = true
		out = append(out, c)
	}
	return out
}

// failedFor weighs calls that failed against the answers that were errors.
func failedFor(v *scene.Service, sym scene.Symptom, by crew, c *failingCalls) (Finding, bool) {
	f := Finding{Subject: by.subject, Text: c.text(), Remedy: c.remedy(), Next: c.next()}
	at := map[recording.Time]float64{}
	for _, e := range c.rows {
		at[e.T] += float64(e.N)
		f.Active = append(f.Active, oneSecond(e.T))
	}
	bad := map[recording.Time]float64{}
	for _, row := range v.Rows {
		bad[row.T] = float64(row.Failed)
	}
	var in, out, failed, inside, outside float64
	for t, n := range at {
		if bad[t] > 0 {
			in, inside, failed = in+n, inside+1, failed+bad[t]
		} else {
			out, outside = out+n, outside+1
		}
	}
	ratio := 0.0
	if failed > 0 {
		ratio = in / failed
	}
	hard := slices.Contains(noRoom, c.errno)
	switch {
	case inside == 0, c.n < fewFailing && (!hard || c.seconds() < secondsLost):
		return f, false
	case outside > 0 && out/outside >= asOften*in/inside:
		f.Evidence = []Evidence{{Side: Against, Grade: Decisive, Value: out, Unit: "calls", Source: tracedExits, Origin: "calls", Text: fmt.Sprintf("%s: as often in seconds in which no answer was an error", f.Text)}}
		return f, true
	case ratio < callsPerFailure || !hard && (ratio < leastRefusals || ratio > mostRefusals):
		return f, false // a healthy program meets those
	}
	e := Evidence{Side: For, Grade: Decisive, Value: in, Unit: "calls", Source: tracedExits, Origin: "calls",
		Text: fmt.Sprintf("%s; in these seconds %s answers of %s were errors", f.Text, count(failed), v.Subject.Comm)}
	if by.behind {
		e.Grade = Strong
		f.Evidence = append(f.Evidence, Evidence{Side: For, Grade: Strong, Value: failed, Unit: "answers", Source: "the first bytes of its answers", Origin: "answers", Text: fmt.Sprintf("%s asks it, and %s", v.Subject.Comm, sym.Text)})
		f.Related = append(f.Related, v.Subject)
	}
	if hard && c.onlyLogs() {
		e.Grade = Weak
	}
	f.Evidence = append(f.Evidence, e)
	f.Active = mergeIntervals(append(f.Active, sym.Active...), 0) // what failed while calls were not looked at failed for the same reason
	f.Harm = Harm{Symptom: sym.Name, Amount: sym.Amount, Unit: sym.Unit, Text: sym.Text}
	return f, true
}

const tracedExits = "tracepoint raw_syscalls:sys_exit"

// unnoticed are programs whose data is lost, though none of those that they answer is told so.
func unnoticed(s *scene.Scene, r *recording.Recording, taken map[int]bool) []Finding {
	by := map[int][]*failingCalls{}
	var order []int
	for _, e := range r.CallErrors {
		if e.PID == 0 || e.PID == r.Manifest.SelfPID || taken[e.PID] || !failsOnFile(e) || !slices.Contains(noRoom, e.Errno) {
			continue
		}
		if by[e.PID] == nil {
			order = append(order, e.PID)
		}
		by[e.PID] = gather(by[e.PID], e)
	}
	var out []Finding
	for _, pid := range order {
		for _, c := range by[pid] {
			if c.n < fewFailing && c.seconds() < secondsLost {
				continue
			}
			f := Finding{Subject: recording.Subject{Kind: recording.KindProcess, PID: pid, Comm: c.rows[0].Comm, Netns: c.rows[0].Netns}, Text: c.text(), Remedy: c.remedy(), Next: c.next()}
			if p := s.Process(pid); p != nil {
				f.Subject = p.Subject
			}
			for _, e := range c.rows {
				f.Active = append(f.Active, oneSecond(e.T))
			}
			f.Active = mergeIntervals(f.Active, 0)
			e := Evidence{Side: For, Grade: Decisive, Value: c.n, Unit: "calls", Source: tracedExits, Origin: "calls", Text: f.Text}
			switch {
			case c.onlyLogs():
				e.Grade = Weak
			case nearFailing(s, f.Subject): // whose answers it was not seen to fail
				e.Grade = Strong
			}
			f.Evidence = []Evidence{e}
			out = append(out, f)
		}
	}
	return out
}

// nearFailing tells whether a process has to do with a service that answers with errors.
func nearFailing(s *scene.Scene, p recording.Subject) bool {
	return slices.ContainsFunc(s.Symptoms, func(y scene.Symptom) bool { return y.Name == scene.FailedAnswers && s.Touch(p, y.Subject) })
}

// onlyLogs tells whether nothing but lines of a log is lost, as far as names tell.
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
	text := fmt.Sprintf("%s failed with %s (%s) %s times in %s", call, c.errno, c.meaning(), count(c.n), plural(c.seconds(), "second"))
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
			return fmt.Sprintf("no room left%s; %s free a moment later", where, size(float64(*last.FreeBytes)))
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

// remedy is what helps now, and for good.
func (c *failingCalls) remedy() string {
	last := c.rows[len(c.rows)-1]
	mount := last.Mount
	if mount == "" {
		mount = "MOUNT"
	}
	switch c.errno {
	case "ENOSPC":
		if last.FreeFiles != nil && *last.FreeFiles == 0 {
			return fmt.Sprintf("now: remove small files of %s (du --inodes -xS %s | sort -n | tail); permanently: a file system with more inodes, and what makes so many files", mount, mount)
		}
		return fmt.Sprintf("now: make room on %s: du -xh %s | sort -h | tail; files that were removed and are still open: lsof +L1; permanently: a larger volume, a bound for what fills it, an alarm at 80 %%", mount, mount)
	case "EDQUOT":
		return fmt.Sprintf("now: raise the quota (repquota %s; of a project: xfs_quota), or remove what its user has too much of; permanently: a quota that fits", mount)
	case "EROFS":
		return fmt.Sprintf("now: dmesg -T | grep -iE 'error|remount' says why; after the device is well: mount -o remount,rw %s; in a unit: ReadWritePaths=; permanently: the disk, or where the program writes", mount)
	case "EFBIG":
		return "now: raise the limit (prlimit --fsize), or move the file away; permanently: LimitFSIZE= in its unit, or split the file"
	case "EIO":
		return "now: dmesg -T names the device; move the service to another; permanently: replace the disk"
	case "ENOMEM":
		return "now: free -h; memory.max of its control group, vm.max_map_count, vm.overcommit_memory; permanently: more memory or a higher limit; in the program: what grows"
	case "EAGAIN":
		return "now: prlimit --nproc, or pids.max of its control group; permanently: TasksMax= and LimitNPROC= in its unit; in the program: what begins so many threads"
	}
	return fmt.Sprintf("now: namei -l %s, and which user it runs as; permanently: chown or chmod, ReadWritePaths= in its unit, or the rule of SELinux or AppArmor that refuses (journalctl -k | grep -iE 'denied|apparmor')", orPath(last.Path))
}

func orPath(path string) string {
	if path == "" {
		return "PATH"
	}
	return path
}

func (c *failingCalls) next() string {
	last := c.rows[len(c.rows)-1]
	next := fmt.Sprintf("strace -f -Z -p %d", last.PID)
	if slices.Contains(noRoom, c.errno) && last.Mount != "" {
		next = fmt.Sprintf("df -h %[1]s; df -i %[1]s; ", last.Mount) + next
	}
	return next
}

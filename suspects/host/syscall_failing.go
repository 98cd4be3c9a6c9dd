package host

import (
	"fmt"
	"slices"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var syscallFailing = &suspect.Suspect{
	Name:  "syscall-failing",
	Title: "system calls fail for a full disk, permissions or limits",
	About: "A service asks the kernel for something and is refused. No room or no inodes are left on a file system (ENOSPC), or a quota is used up (EDQUOT). It was mounted read-only or became so after an error (EROFS), or the device fails (EIO). A file can't be written or opened (EACCES, EPERM), or a limit is reached (EFBIG, ENOMEM, EAGAIN of clone). " +
		"It answers with errors, or writes nothing any more, while its sockets and threads look healthy.",
	Needs: []suspect.Need{
		{Measure: "sockets.errors", Must: true, Why: "which calls failed, with which error, on which file; looked at for 3 s where answers are errors or missing, or a file system is full"},
		{Measure: "sockets.turns", Why: "which answers were errors, and when"},
		{Measure: "host.processes", Why: "which processes are the service's"},
	},
	For: []string{
		"decisive: its calls failed in the seconds in which its answers were errors, or connections ended without an answer, one at least for every fifth of these (of EACCES, EPERM, ENOMEM and EAGAIN: about one for each)",
		"strong: the same in a service of this host that it asks",
		"decisive: writes of files that are not logs, five or more or in two seconds or more, failed with ENOSPC, EDQUOT, EROFS, EFBIG or EIO; without clients who notice it that is a risk",
	},
	Against: []string{
		"decisive: the calls fail as often in seconds in which no answer was an error",
		"weak: only what it writes to its log fails",
		"trap: ENOENT, and EACCES or EPERM that no answer depends on: programs look for what may be there",
		"can't tell: errors of io_uring and of writes that the kernel does later; a process that ends before it serves; what failed while calls were not looked at",
	},
	LeadsTo: []suspect.Lead{{To: "connection-limit", Lag: 5 * time.Second}, {To: scene.ConnectionErrors, Lag: 5 * time.Second}, {To: scene.FailedAnswers, Lag: 5 * time.Second}, {To: "error-answers", Lag: 5 * time.Second},
		{To: scene.StreamFreeze, Lag: 10 * time.Second}, {To: scene.StreamLate, Lag: 10 * time.Second}, {To: "server-stall", Lag: 10 * time.Second}},
	Remedy:   suspect.Remedy{Permanently: "Give it what it asks for: room, the right to the file, a higher limit."},
	Verified: "the calls succeed, and its answers are not errors any more",
	Next:     "strace -f -Z -p PID   # only calls that fail; df -h; df -i; dmesg -T | tail",
	Weigh:    weighSyscallFailing,
}

const (
	// fewFailing calls are a program that tries something once. fewerFailing are enough where each
	// that failed in the seconds looked at has an answer that was an error, and each such answer one.
	fewFailing, fewerFailing = 5, 2
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

func weighSyscallFailing(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	taken := map[int]bool{}
	weigh := func(v *scene.Service, sym scene.Symptom, told bool, own crew) {
		for _, crew := range append([]crew{own}, crewsBehind(s, r, own)...) {
			for _, c := range crew.failing(r) {
				if !told && !c.hard() {
					continue // errors so few may be meant
				}
				for _, e := range c.rows {
					taken[e.PID] = true // what its answers do not depend on, they are not explained by
				}
				if f, ok := failedFor(v, sym, crew, c); ok {
					f.Related = append(f.Related, crew.related(s, c)...)
					out = append(out, f)
				}
			}
		}
	}
	for _, v := range scene.ErrorAnswers(s, r) {
		sym, told := v.Failing(s, r)
		weigh(v, sym, told, crewOf(s, v.Subject, v.PIDs))
	}
	for _, v := range scene.Services(s, r, "call") { // a program that gives up a connection answers nothing
		if l := s.ListenerOn(v.Subject.Netns, v.Subject.Local); l != nil {
			if sym, ok := v.CutShort(s); ok {
				weigh(v, sym, true, crewAt(s, l))
			}
		}
	}
	return append(out, unnoticed(s, r, taken)...)
}

// failedFor weighs calls that failed against the answers that were errors.
func failedFor(v *scene.Service, sym scene.Symptom, by crew, c *failingCalls) (suspect.Finding, bool) {
	f := suspect.Finding{Subject: by.subject, Text: c.text(), Remedy: c.remedy(), Next: c.next()}
	at := map[recording.Time]float64{}
	for _, e := range c.rows {
		at[e.T] += float64(e.N)
		f.Active = append(f.Active, measure.OneSecond(e.T))
	}
	var in, out, failed, inside, outside float64
	for t, n := range at {
		if bad := v.BadAt(t); bad > 0 {
			in, inside, failed = in+n, inside+1, failed+bad
		} else {
			out, outside = out+n, outside+1
		}
	}
	ratio := 0.0
	if failed > 0 {
		ratio = in / failed
	}
	hard := c.hard()
	switch {
	case inside == 0, c.n < fewFailing && (!hard || c.seconds() < secondsLost) && (c.n < fewerFailing || in != failed || out > 0):
		return f, false
	case outside > 0 && out/outside >= asOften*in/inside:
		f.Evidence = []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: out, Unit: "calls", Source: tracedExits, Origin: "calls", Text: fmt.Sprintf("%s: as often in seconds in which no answer was an error or missing", f.Text)}}
		return f, true
	case ratio < callsPerFailure || !hard && (ratio < leastRefusals || ratio > mostRefusals):
		return f, false // a healthy program meets those
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: in, Unit: "calls", Source: tracedExits, Origin: "calls",
		Text: fmt.Sprintf("%s; in these seconds %s answers of %s were errors or missing", f.Text, units.Count(failed), v.Subject.Comm)}
	if by.behind {
		e.Grade = suspect.Strong
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: failed, Unit: "answers", Source: source.FirstBytes, Origin: "answers", Text: fmt.Sprintf("%s asks it, and %s", v.Subject.Comm, sym.Text)})
		f.Related = append(f.Related, v.Subject)
	}
	if hard && c.onlyLogs() {
		e.Grade = suspect.Weak
	}
	f.Evidence = append(f.Evidence, e)
	f.Active = intervals.Merge(append(f.Active, sym.Active...), 0) // what failed while calls were not looked at failed for the same reason
	f.Harm = suspect.Harm{Symptom: sym.Name, Amount: sym.Amount, Unit: sym.Unit, Text: sym.Text}
	return f, true
}

var tracedExits = source.Tracepoint("raw_syscalls:sys_exit", source.CallErrors)

// unnoticed are programs whose data is lost, though none of those that they answer is told so.
func unnoticed(s *scene.Scene, r *recording.Recording, taken map[int]bool) []suspect.Finding {
	by := map[int][]*failingCalls{}
	var order []int
	ppid, comm := parents(s, r)
	for _, e := range r.CallErrors {
		if e.PID == 0 || e.PID == r.Manifest.SelfPID || taken[e.PID] || !failsOnFile(e) || !slices.Contains(noRoom, e.Errno) {
			continue
		}
		pid := sameServer(ppid, comm, e.PID)
		if by[pid] == nil {
			order = append(order, pid)
		}
		by[pid] = gather(by[pid], e)
	}
	var out []suspect.Finding
	for _, pid := range order {
		for _, c := range by[pid] {
			if c.n < fewFailing && c.seconds() < secondsLost {
				continue
			}
			f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindProcess, PID: pid, Comm: c.rows[0].Comm, Netns: c.rows[0].Netns}, Text: c.text(), Remedy: c.remedy(), Next: c.next()}
			if p := s.Process(pid); p != nil {
				f.Subject = p.Subject
			}
			for _, e := range c.rows {
				f.Active = append(f.Active, measure.OneSecond(e.T))
			}
			f.Active = intervals.Merge(f.Active, 0)
			e := suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: c.n, Unit: "calls", Source: tracedExits, Origin: "calls", Text: f.Text}
			switch {
			case c.onlyLogs():
				e.Grade = suspect.Weak
			case nearFailing(s, f.Subject): // whose answers it was not seen to fail
				e.Grade = suspect.Strong
			}
			f.Evidence = []suspect.Evidence{e}
			out = append(out, f)
		}
	}
	return out
}

// nearFailing reports whether a process has to do with a service that answers with errors.
func nearFailing(s *scene.Scene, p recording.Subject) bool {
	return slices.ContainsFunc(s.Symptoms, func(y scene.Symptom) bool { return y.Name == scene.FailedAnswers && s.Touch(p, y.Subject) })
}

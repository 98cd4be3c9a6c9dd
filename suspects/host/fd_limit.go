package host

import (
	"cmp"
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var fdLimit = &suspect.Suspect{
	Name:  "fd-limit",
	Title: "a process is out of file descriptors",
	About: "The process holds as many descriptors as RLIMIT_NOFILE allows: accept() fails with EMFILE, connections lie in its accept queue, and their clients believe that they are connected. " +
		"connect() still succeeds, and the machine's own count (file-nr) is normal.",
	Needs: []suspect.Need{
		{Measure: "host.processes", Must: true, Why: "descriptors in use and the limit of each process"},
		{Measure: "sockets.diag", Why: "the accept queue of its listeners, which does not drain"},
		{Measure: "sockets.owner", Why: "which process owns the listener; sockets without a process"},
		{Measure: "sockets.connections", Why: "that connections still come"},
		{Measure: "sockets.errors", Why: "that its calls return EMFILE"},
	},
	InTrace: []string{recording.Trace, "sockets.errors"},
	For: []string{
		"decisive: descriptors = limit, and its calls return EMFILE, which nothing else makes (accept(2), open(2))",
		"decisive: descriptors = limit at sample after sample, while connections wait in the process' accept queue and none is taken out",
		"strong: descriptors = limit (or one less)",
		"weak: established connections of its port that no process has",
	},
	Against: []string{
		"decisive: at the limit, and its accept queue is empty while connections come",
		"70–95 % of the limit is nothing yet; file-nr near file-max is another matter; a full accept queue far from the limit is a slow accept",
	},
	LeadsTo: []suspect.Lead{{To: "error-answers", Lag: 10 * time.Second}, {To: "listen-overflow", Lag: 30 * time.Second}, {To: scene.ConnectLatency, Lag: 10 * time.Second}, {To: scene.RequestLatency, Lag: 10 * time.Second}, {To: scene.ConnectionErrors, Lag: 10 * time.Second},
		{To: "peer-reset", Lag: time.Minute}}, // callers give up, and what they left is answered with a reset
	Remedy: suspect.Remedy{
		Now:         "prlimit --pid PID --nofile=LIMIT",
		Permanently: "LimitNOFILE= in its unit (units do not read limits.conf).",
		Program:     "Find what keeps descriptors: a leak, or too many for each client.",
	},
	Verified: "the accept queue drains, and no call fails with EMFILE",
	Next:     "ls /proc/PID/fd | wc -l; grep 'open files' /proc/PID/limits; strace -f -e trace=accept,accept4,openat -p PID 2>&1 | grep EMFILE",
	Weigh:    weighFDLimit,
}

func weighFDLimit(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, p := range s.Processes {
		if p.Subject.PID == r.Manifest.SelfPID {
			continue
		}
		if f, ok := fdFinding(s, r, p); ok {
			out = append(out, f)
		}
	}
	return out
}

// fullTable is what the rows of a process say of its descriptors.
type fullTable struct {
	at        []recording.Interval // from a row at the limit to the next that is not
	rows, of  int                  // rows at the limit, rows in which they were read
	fds, most int                  // the most in use, the soft limit then
	hard      int
}

// A program that is down to its last descriptor often keeps that one for logs.
const spareDescriptors = 1

func fullTableOf(p *scene.Process, end recording.Time) fullTable {
	var t fullTable
	for i, row := range p.Rows {
		if row.FDs == nil || row.FDLimit <= 0 {
			continue
		}
		t.of++
		// More in use than the limit: it was lowered afterwards, as sandboxes do
		// (sshd sets it to 0), and wants no more.
		if *row.FDs > row.FDLimit || *row.FDs < row.FDLimit-spareDescriptors {
			continue
		}
		t.rows++
		t.fds, t.most, t.hard = max(t.fds, *row.FDs), row.FDLimit, row.FDHard
		until := end
		if i+1 < len(p.Rows) {
			until = p.Rows[i+1].T
		}
		t.at = append(t.at, recording.Interval{Start: row.T, End: until})
	}
	t.at = intervals.Merge(t.at, 0)
	return t
}

func fdFinding(s *scene.Scene, r *recording.Recording, p *scene.Process) (suspect.Finding, bool) {
	t := fullTableOf(p, s.Window.End)
	q := backlogOf(p, t.at)
	f := suspect.Finding{Subject: p.Subject, Active: t.at}
	if no := refusedDescriptor(p, r); t.rows == 0 && no.n > 0 {
		return addRefused(f, r, p, no), true // also of one whose limit was lowered below what it has
	}
	if t.of == 0 {
		q = backlogOf(p, []recording.Interval{s.Window})
		if q.stuck < 5 {
			return f, false
		}
		f.Text = fmt.Sprintf("%s connections wait on %s and none is accepted; how many descriptors it has could not be read", units.Count(float64(q.most)), q.local)
		f.Next = fmt.Sprintf("ls /proc/%[1]d/fd | wc -l; grep 'open files' /proc/%[1]d/limits", p.Subject.PID)
		f.Evidence = []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: float64(q.most), Unit: "connections", Source: source.SS("-ltn", source.RecvQ), Text: f.Text},
			{Side: suspect.Missing, Text: "descriptors and limit of the process were not read", Source: source.Of("/proc/PID/fd, /proc/PID/limits", source.Descriptors)}}
		return f, true
	}
	if t.rows == 0 {
		return f, false
	}
	full := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(t.fds), Unit: "descriptors", Source: source.Ofs("/proc/%[1]d/fd, /proc/%[1]d/limits", p.Subject.PID).With(source.Descriptors), Origin: "descriptors",
		Text: fmt.Sprintf("%s descriptors in use, soft limit %s, in %d of %d samples", units.Count(float64(t.fds)), units.Count(float64(t.most)), t.rows, t.of)}
	f.Evidence = append(f.Evidence, full)
	f.Text = fmt.Sprintf("%s of %s descriptors in use", units.Count(float64(t.fds)), units.Count(float64(t.most)))
	opened := openedOn(s, r, p, t.at)
	no := refusedDescriptor(p, r)
	if no.n > 0 {
		f.Evidence[0].Grade = suspect.Decisive
		f.Evidence[0].Text += fmt.Sprintf("; its %s returned EMFILE %s times in the seconds in which calls were watched", no.call, units.Count(no.n))
		f.Evidence[0].Source = f.Evidence[0].Source.And(source.Of("tracepoint raw_syscalls:sys_exit"))
		f.Text += fmt.Sprintf(": %s fails (EMFILE)", no.call)
		f.Active = intervals.Merge(append(f.Active, no.at...), 0)
		// One connection that waits can be refused again and again: how many wait is
		// the harm where they were seen.
		f.Harm = suspect.Harm{Symptom: scene.ConnectionErrors, Amount: no.n, Unit: "calls", Text: fmt.Sprintf("%s failed %s times for want of a descriptor", no.call, units.Count(no.n))}
	}
	switch {
	case q.stuck >= 2:
		if t.fds >= t.most {
			f.Evidence[0].Grade = suspect.Decisive
			f.Evidence[0].Text += fmt.Sprintf(", while %s connections waited on %s and none was taken out of the queue (%d samples)", units.Count(float64(q.most)), q.local, q.stuck)
			f.Evidence[0].Source = f.Evidence[0].Source.And(source.SS("-ltn", source.RecvQ))
		} else {
			f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(q.most), Unit: "connections", Source: source.SS("-ltn", source.RecvQ), Origin: "accept queue",
				Text: fmt.Sprintf("up to %s connections waited on %s and none was taken out of the queue (%d samples)", units.Count(float64(q.most)), q.local, q.stuck)})
		}
		if no.n == 0 {
			f.Text += ": accept fails (EMFILE)"
		}
		f.Text += fmt.Sprintf(", %s connections wait on %s", units.Count(float64(q.most)), q.local)
		f.Harm = suspect.Harm{Symptom: scene.ConnectionErrors, Amount: float64(q.most), Unit: "connections",
			Text: fmt.Sprintf("up to %s connections at once were never accepted", units.Count(float64(q.most)))}
		if opened > 0 {
			f.Harm.Of = max(opened, float64(q.most))
		}
		f.Related = append(f.Related, q.listener.Subject)
		if n := ownerless(s, q.listener); n > 0 {
			f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: float64(n), Unit: "sockets", Source: source.SS("-tnp"), Text: fmt.Sprintf("%s established connections to it belong to no process", units.Count(float64(n)))})
		}
	case q.rows >= 1 && q.most == 0 && no.n == 0:
		f.Evidence[0].Grade = suspect.Weak
		served := suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: opened, Unit: "connections", Source: source.SS("-ltn", source.RecvQ), Origin: "accept queue",
			Text: fmt.Sprintf("no client was seen waiting in its accept queue (%d samples)", q.rows)}
		if opened > 0 {
			served.Grade, served.Source = suspect.Decisive, served.Source.And(source.Connections)
			served.Text = fmt.Sprintf("%s connections came in that time, and none was seen waiting (%d samples)", units.Count(opened), q.rows)
		}
		f.Evidence = append(f.Evidence, served)
	}
	f.Remedy = raiseLimit(r, p, t)
	f.Settings = []suspect.Setting{{Kind: "nofile", At: p.Subject, Value: t.wanted(),
		Why: fmt.Sprintf("%d descriptors are all that it may have, and it has them", t.most), Risk: "what leaks descriptors goes on leaking", Needs: "LimitNOFILE= in its unit, to last over its restart"}}
	f.Next = fmt.Sprintf("ls -l /proc/%[1]d/fd | awk '{print $NF}' | sed 's/[0-9].*//' | sort | uniq -c; strace -f -e trace=accept,accept4 -p %[1]d", p.Subject.PID)
	return f, true
}

// addRefused is for a process whose descriptors were not counted. Its calls failed with
// EMFILE, which means that it has no descriptor left (accept(2), open(2)).
func addRefused(f suspect.Finding, r *recording.Recording, p *scene.Process, no refusals) suspect.Finding {
	last := p.Last()
	f.Active = intervals.Merge(no.at, measure.Joined)
	f.Active[0].Start = waitingSince(p, f.Active[0].Start)
	f.Text = fmt.Sprintf("%s fails (EMFILE), %s times: all its descriptors are in use", no.call, units.Count(no.n))
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: no.n, Unit: "calls", Source: source.Of("strace -f -e trace=accept,accept4,openat"), Origin: "descriptors",
		Text: fmt.Sprintf("its %s returned EMFILE %s times, which is the answer where RLIMIT_NOFILE is reached and to nothing else", no.call, units.Count(no.n))}
	if last.FDLimit > 0 {
		e.Text += fmt.Sprintf(" (its limit was seen to be %s)", units.Count(float64(last.FDLimit)))
	}
	f.Evidence = []suspect.Evidence{e}
	f.Harm = suspect.Harm{Symptom: scene.ConnectionErrors, Amount: no.n, Unit: "calls", Text: fmt.Sprintf("%s failed %s times for want of a descriptor", no.call, units.Count(no.n))}
	f.Remedy = raiseLimit(r, p, fullTable{most: cmp.Or(last.FDLimit, 1024), hard: last.FDHard})
	f.Next = fmt.Sprintf("ls -l /proc/%[1]d/fd | awk '{print $NF}' | sed 's/[0-9].*//' | sort | uniq -c; grep 'open files' /proc/%[1]d/limits", p.Subject.PID)
	return f
}

// waitingSince is when connections began to wait for a process to accept them that still did at some
// time: what calls return is looked at only once something seems wrong.
func waitingSince(p *scene.Process, at recording.Time) recording.Time {
	since := at
	for _, k := range p.Sockets {
		if !k.Listening() {
			continue
		}
		for i := len(k.Rows) - 1; i >= 0; i-- {
			row := k.Rows[i]
			if row.T >= at {
				continue
			}
			if row.RecvQ == 0 {
				break
			}
			since = min(since, row.T)
		}
	}
	return since
}

// refusals are calls of a process that got no descriptor.
type refusals struct {
	n    float64
	call string // that which failed most
	at   []recording.Interval
}

func refusedDescriptor(p *scene.Process, r *recording.Recording) refusals {
	var out refusals
	by := map[string]float64{}
	for _, e := range r.CallErrors {
		if e.PID != p.Subject.PID || e.Errno != "EMFILE" {
			continue
		}
		out.n += float64(e.N)
		by[e.Call] += float64(e.N)
		if by[e.Call] > by[out.call] {
			out.call = e.Call
		}
		out.at = append(out.at, measure.OneSecond(e.T))
	}
	return out
}

// wanted is the limit that is proposed, soft and hard.
func (t fullTable) wanted() string {
	to := max(4*t.most, 65536)
	if t.hard >= 4*t.most { // what the process may have without a privilege
		to = min(to, t.hard)
	}
	return fmt.Sprintf("%d:%d", to, max(to, t.hard))
}

// raiseLimit is how the limit is raised: in the running process, and where it is kept,
// as a unit does not read limits.conf (systemd.exec(5)).
func raiseLimit(r *recording.Recording, p *scene.Process, t fullTable) suspect.Remedy {
	to := t.wanted()
	out := suspect.Remedy{Permanently: fmt.Sprintf("LimitNOFILE=%s in its unit (limits.conf is ignored by units), or ulimit -n where it is started.", to), Program: "Find what keeps the descriptors."}
	if unit := p.Last().Unit; unit != "" {
		out.Permanently = fmt.Sprintf("LimitNOFILE=%s in %s (systemctl edit %s; limits.conf is ignored by units).", to, unit, unit)
	}
	if remedy.Lasts(r, p) {
		out.Now = fmt.Sprintf("prlimit --pid %d --nofile=%s", p.Subject.PID, to)
	}
	return out
}

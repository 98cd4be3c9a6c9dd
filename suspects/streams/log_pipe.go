package streams

import (
	"fmt"

	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// stuckPipe is a pipe that a thread of a process waited to write to, in an interval: its
// standard output, whose reader (a logger, a supervisor) does not read.
type stuckPipe struct {
	writer   *scene.Process
	n, looks int // looks of the interval at which it waited; all
	row      recording.Thread
	fd       *recording.FD // what the descriptor is, where that was looked up
	reader   *scene.Process
	blocked  *blockedIn // by the scheduler; nil where nobody watched
	stuck    uint64     // looks at the state of that thread, each of which found it there; 0: not so
}

// stuckPipeOf finds the pipe that a process waited to write to at most looks of an
// interval, or by the scheduler's word; nil where there is none.
func stuckPipeOf(p *scene.Process, s *scene.Scene, r *recording.Recording, in recording.Interval) *stuckPipe {
	f := &stuckPipe{writer: p}
	for _, l := range measure.LooksAt(p) {
		if !in.Covers(l.T) {
			continue
		}
		f.looks++
		for _, row := range l.Rows {
			if row.FullPipe() {
				f.n++
				f.row = row
				break
			}
		}
	}
	f.blocked = blockedOf(p, r, []recording.Interval{in}, s.Window, func(row recording.OffCPU) bool {
		return writes[row.Call] && row.Reason == recording.WaitPipe
	})
	if f.blocked != nil && f.blocked.share() < mostOfIt {
		f.blocked = nil
	}
	var at recording.ThreadStates
	at, f.stuck = scene.StuckAtPipe(r, p, in)
	switch {
	case f.n >= 2 && 2*f.n >= f.looks, f.blocked != nil:
	case f.stuck > 0:
		f.n, f.row = 0, recording.Thread{PID: at.PID, TID: at.TID, Syscall: at.Call, FD: at.FD}
	default:
		return nil
	}
	if f.n == 0 && f.blocked != nil {
		f.row = recording.Thread{PID: p.Subject.PID, TID: f.blocked.tid, Syscall: f.blocked.call, FD: f.blocked.fd}
	}
	for i, fd := range r.FDs {
		if fd.PID == p.Subject.PID && fd.FD == f.row.FD && fd.Kind == "pipe" {
			f.fd = &r.FDs[i]
		}
	}
	if f.fd != nil && f.fd.PeerPID != 0 {
		f.reader = s.Process(f.fd.PeerPID)
	}
	return f
}

// who reads it, for a person.
func (f *stuckPipe) who() string {
	switch {
	case f.reader != nil:
		return f.reader.Subject.Name
	case f.fd != nil && f.fd.PeerPID != 0:
		return fmt.Sprintf("%s[%d]", f.fd.PeerComm, f.fd.PeerPID)
	}
	return "its reader"
}

// what the descriptor is: standard output, where it is that.
func (f *stuckPipe) what() string {
	switch f.row.FD {
	case 1:
		return "its standard output, a pipe"
	case 2:
		return "its standard error, a pipe"
	}
	return fmt.Sprintf("descriptor %d, a pipe", f.row.FD)
}

// evidence is what was seen of the writer, and of the reader meanwhile.
func (f *stuckPipe) evidence(in recording.Interval) []suspect.Evidence {
	var out []suspect.Evidence
	if f.n > 0 {
		part, share := measure.ShareOf(f.n, f.looks)
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: share, Unit: "share", Source: source.Calls.As(fmt.Sprintf("/proc/%d/task/%d/syscall, wchan", f.writer.Subject.PID, f.row.TID)), Origin: "system call",
			Text: fmt.Sprintf("in %s samples of the silence its thread %d slept in %s to %s: the pipe is full", part, f.row.TID, f.row.Syscall, f.what())}
		if share >= 0.6 {
			e.Grade = suspect.Strong
		}
		out = append(out, e)
	}
	if f.stuck > 0 {
		out = append(out, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(f.stuck), Unit: "samples", Source: source.ThreadState, Origin: "system call",
			Text: fmt.Sprintf("in %d of %d samples of its state thread %d slept in %s to %s: the pipe is full", f.stuck, f.stuck, f.row.TID, f.row.Syscall, f.what())})
	}
	if f.blocked != nil {
		out = append(out, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: f.blocked.share(), Unit: "share", Source: source.OffCPUOf, Origin: "system call",
			Text: f.blocked.text(f.what())})
	}
	if e, ok := f.reading(in); ok {
		out = append(out, e)
	}
	return out
}

// reading is what the reader did meanwhile: stopped, or in one call that is no read of it.
func (f *stuckPipe) reading(in recording.Interval) (suspect.Evidence, bool) {
	if f.reader == nil {
		return suspect.Evidence{}, false
	}
	pid := f.reader.Subject.PID
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Source: source.CallsOf(pid), Origin: "the pipe's reader"}
	stopped, looks := 0, 0
	calls := map[string]float64{}
	for _, t := range f.reader.Threads {
		for _, row := range t.Rows {
			if !in.Covers(row.T) || row.TID != pid { // its first thread reads, in a program of one
				continue
			}
			looks++
			switch {
			case row.State == "T" || row.State == "t":
				stopped++
			case row.Syscall != "" && row.Syscall != "running":
				calls[row.Syscall]++
			}
		}
	}
	if looks == 0 {
		return suspect.Evidence{}, false
	}
	part, share := measure.ShareOf(stopped, looks)
	if share >= 0.5 {
		e.Value, e.Unit = share, "share"
		e.Text = fmt.Sprintf("%s, who reads that pipe, was stopped (state T) in %s samples", f.who(), part)
		return e, true
	}
	call, n := measure.Greatest(calls)
	if call == "" || measure.ReadCalls[call] || measure.WaitsForWork[call] || n < 0.5*float64(looks) {
		return suspect.Evidence{}, false
	}
	part, _ = measure.ShareOf(int(n), looks)
	e.Text = fmt.Sprintf("%s, who reads that pipe, was in %s in %s samples", f.who(), call, part)
	return e, true
}

// silence is the finding: it waits for whoever reads the pipe.
func (f *stuckPipe) silence(g suspect.Finding, gap scene.LogGap, s *scene.Scene) suspect.Finding {
	g.Evidence = append(g.Evidence, f.evidence(gap.Silence)...)
	g.Text += fmt.Sprintf(": it waits for %s to read %s", f.who(), f.what())
	g.Harm = harmOf(gap, s)
	pid := f.writer.Subject.PID
	g.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("Find out why %s does not read.", f.who()), Program: fmt.Sprintf("%s: log to a file, or drop lines where the pipe is full.", f.writer.Subject.Comm)}
	g.Next = fmt.Sprintf("snag blocked --pid %d   # with who is at the other end", pid)
	if f.fd != nil && f.fd.PeerPID != 0 {
		g.Related = append(g.Related, recording.Subject{Kind: recording.KindProcess, PID: f.fd.PeerPID, Comm: f.fd.PeerComm})
		g.Next = fmt.Sprintf("snag blocked --pid %d   # what the pipe's reader waits for", f.fd.PeerPID)
	}
	return g
}

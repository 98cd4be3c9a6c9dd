package streams

import (
	"fmt"
	"slices"

	"snag/internal/calls"
	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// pipeOf is the pipe that threads of a service wait to write to.
type pipeOf struct {
	pid, fd int
	inode   uint64
	looks   float64 // of one thread, at which it waited
}

// slowPipe is a service whose answers wait for room in a pipe: its log goes to a program that
// reads it too slowly. behind: one thread waits, and the requests have none.
func slowPipe(s *scene.Scene, r *recording.Recording, d ledger.Delay, behind bool) (suspect.Finding, bool) {
	share := 0.0
	for _, p := range d.By {
		if p.Account == ledger.Pipe {
			share = p.Share
		}
	}
	most := writtenPipe(s, r, d.Party.PIDs)
	writer := s.Process(most.pid)
	if writer == nil {
		return suspect.Finding{}, false
	}
	f := suspect.Finding{Subject: writer.Subject, Active: d.Active, Related: []recording.Subject{d.Party.Subject}}
	var held *heldInPipe
	if !behind && share < inPipe {
		return suspect.Finding{}, false
	}
	if behind {
		if held = heldBy(s, r, d.Party, most); held == nil {
			return suspect.Finding{}, false
		}
		f.Active = held.active
	}
	who, reader := "its reader", 0
	for _, fd := range r.FDs {
		switch {
		case fd.Kind != "pipe" || fd.Inode != most.inode || most.inode == 0:
		case fd.FD == 0 && !slices.Contains(d.Party.PIDs, fd.PID):
			reader, who = fd.PID, fmt.Sprintf("its reader, process %d", fd.PID)
		case fd.PID == most.pid && fd.FD == most.fd && fd.PeerPID != 0 && reader == 0:
			reader, who = fd.PeerPID, fmt.Sprintf("its reader, %s[%d]", fd.PeerComm, fd.PeerPID)
		}
	}
	if p := s.Process(reader); p != nil {
		who = p.Subject.Name
		f.Evidence = readerDid(s, p)
		f.Related = append(f.Related, p.Subject)
	}
	f.Text = fmt.Sprintf("its answers wait for room in a pipe (descriptor %d) for %.0f %% of their delay: %s reads too slowly", most.fd, 100*share, who)
	f.Evidence = append([]suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.Turns.And(source.ThreadState.As("states of its threads")), Origin: "turns",
		Text: fmt.Sprintf("%.0f %% of the delay of its answers (%s each) was waiting in a write to descriptor %d, which is not a socket", 100*share, units.Lasting(d.Each), most.fd)}}, f.Evidence...)
	if held != nil {
		f.Text = fmt.Sprintf("its requests wait while a thread of it waits for room in a pipe (descriptor %d), for %s: %s reads too slowly", most.fd, units.Lasting(seconds(held.active)), who)
		f.Evidence[0] = held.evidence(most.fd)
	}
	full, looks := 0, 0
	for _, l := range measure.LooksAt(writer) {
		if f.Active != nil && !intervals.Cover(f.Active, l.T) {
			continue // nothing waits then
		}
		looks++
		if slices.ContainsFunc(l.Rows, func(row recording.Thread) bool { return row.FullPipe() && row.FD == most.fd }) {
			full++
		}
	}
	if part, share := measure.ShareOf(full, looks); full >= 2 && share >= 0.3 {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: share, Unit: "share", Source: source.Calls.As(fmt.Sprintf("/proc/%d/task/*/{syscall,wchan}", most.pid)), Origin: "system call",
			Text: fmt.Sprintf("in %s samples threads of it slept in pipe_write on that descriptor: the pipe is full", part)})
	}
	f = tooSlow(f, writer)
	f.Remedy = suspect.Remedy{Program: fmt.Sprintf("%s: write in batches, no sync for each line. %s: log to a file, less of it, or drop lines where the pipe is full.", who, measure.OrProgram(writer.Subject.Comm))}
	f.Next = fmt.Sprintf("ls -l /proc/[0-9]*/fd 2>/dev/null | grep 'pipe:.%d'   # who reads it; snag blocked --pid %d", most.inode, most.pid)
	if reader != 0 {
		f.Next = fmt.Sprintf("snag blocked --pid %d   # what the pipe's reader waits for", reader)
	}
	return f, true
}

// writtenPipe is the descriptor that threads of processes were found most often in a write to,
// and that is no socket.
func writtenPipe(s *scene.Scene, r *recording.Recording, pids []int) (most pipeOf) {
	by := map[pipeOf]float64{}
	for _, row := range r.ThreadStates {
		if row.State != "S" || row.Looks == 0 || !slices.Contains(pids, row.PID) || calls.Of(row.Call)&calls.Writes == 0 {
			continue
		}
		if p := s.Process(row.PID); p == nil || s.SocketByInode(p.First().Netns, row.Inode) != nil {
			continue
		}
		key := pipeOf{pid: row.PID, fd: row.FD, inode: row.Inode}
		by[key] += float64(row.N)
		if n := by[key]; n > most.looks {
			most = key
			most.looks = n
		}
	}
	return most
}

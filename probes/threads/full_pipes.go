package threads

import (
	"fmt"
	"time"

	"snag/probes/probe"
	"snag/probes/syscalls/descriptor"
	"snag/recording"
)

// fullPipes finds who does not read the pipes that watched threads wait to write to. To
// look for the other end takes the descriptors of all processes, so that it is done once
// a pipe, and of a few.
type fullPipes struct {
	ends  *descriptor.Reader
	looks map[pipeEnd]int // in a row
	told  map[pipeEnd]bool
}

type pipeEnd struct{ pid, fd int }

const (
	// stuckLooks: a pipe that is full at two looks a second apart has a reader that is
	// slower than the writer.
	stuckLooks = 2
	mostPipes  = 8
)

func newFullPipes(proc string, netns uint64) fullPipes {
	return fullPipes{ends: descriptor.New(proc, netns), looks: map[pipeEnd]int{}, told: map[pipeEnd]bool{}}
}

// look takes one look at the threads of one process.
func (f *fullPipes) look(env *probe.Env, rows []recording.Thread) {
	full := map[pipeEnd]string{}
	for _, row := range rows {
		if row.FullPipe() && row.FD >= 0 {
			full[pipeEnd{row.PID, row.FD}] = row.Comm
		}
	}
	for end := range f.looks {
		if len(rows) > 0 && end.pid == rows[0].PID && full[end] == "" {
			delete(f.looks, end)
		}
	}
	for end, comm := range full {
		f.looks[end]++
		if f.looks[end] < stuckLooks || f.told[end] || len(f.told) >= mostPipes {
			continue
		}
		f.told[end] = true
		fd, ok := f.describe(env.Now(), end)
		if !ok {
			continue
		}
		env.Sink.Append(fd)
		if fd.PeerPID != 0 {
			env.Watch.Add(fd.PeerPID, fmt.Sprintf("it does not read the pipe that %s[%d] waits to write to", comm, end.pid))
		}
	}
}

// describe is the row of a descriptor that is a pipe's.
func (f *fullPipes) describe(t recording.Time, end pipeEnd) (recording.FD, bool) {
	row, err := f.ends.Look(end.pid, end.fd)
	if err != nil || row.Kind != "pipe" {
		return row, false // it is closed by now
	}
	row.T = t
	f.ends.Complete(time.Now(), []*recording.FD{&row})
	return row, true
}

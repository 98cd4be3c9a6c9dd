package strace

import "snag/recording/calltable"

// thread is one thread of the trace.
type thread struct {
	tid   int
	proc  *process
	name  string // from -Y or prctl(PR_SET_NAME); "" as its process
	cells cells
	open  *pending // the call it sits in, where another thread's line cut it off
	spare pending
	gone  bool   // it ended, or another took its number
	seen  int64  // end of its last call, ns
	waits uint64 // calls in which it slept
	// unsure: so many of its descriptors are still to be held against its process'.
	unsure int
	long   longest
}

// pending is a call that has begun.
type pending struct {
	call  uint16
	fd    int32
	begin int64
	from  int64 // what is not yet added to a second begins here
	hit   bool
	args  []byte
}

// process is what threads share.
type process struct {
	pid, parent int
	comm        string
	fds         *fdTable
	polls       map[uint64]int32 // descriptors by what epoll tells of them
	limit, hard int              // RLIMIT_NOFILE; 0: not seen
	ended       bool             // its first thread has
	looked      int64            // when it was last told of, ns
}

// called takes the name that -Y shows; the first thread's is the process'.
func (th *thread) called(name string) {
	if th.name = name; th.tid == th.proc.pid || th.proc.comm == "" {
		th.proc.comm = name
	}
}

func (th *thread) comm() string {
	if th.name != "" {
		return th.name
	}
	return th.proc.comm
}

// who finds the thread of a line. Without -f, and on the terminal while one
// process is traced, lines name none.
func (t *Trace) who(pid int) *thread {
	if t.recent != nil && t.recent.tid == pid && pid != 0 {
		return t.recent
	}
	slot := &t.near[pid&(len(t.near)-1)]
	if th := *slot; th != nil && th.tid == pid && pid != 0 && !th.gone {
		t.recent = th
		return th
	}
	if pid == 0 {
		pid = t.unnamed()
	}
	th := t.threads[pid]
	if th == nil {
		th = t.unknown(pid)
	}
	t.recent, *slot = th, th
	return th
}

// unnamed is the thread that lines without a number are of: the only one that is
// left, or the first.
func (t *Trace) unnamed() int {
	if t.o.PID != 0 {
		return t.o.PID
	}
	if len(t.threads) == 1 {
		for pid := range t.threads {
			return pid
		}
	}
	return t.first
}

// unknown makes a thread that nothing told of: the first, or one that was there
// before the trace.
func (t *Trace) unknown(pid int) *thread {
	if main := t.threads[0]; main != nil && t.first == 0 && !t.born[pid] {
		// The one without a number has one now that there are several.
		delete(t.threads, 0)
		main.tid = pid
		if main.proc.pid == 0 {
			main.proc.pid = pid
		}
		t.threads[pid], t.first = main, pid
		return main
	}
	if len(t.threads) == 0 && t.first == 0 {
		t.first = pid
	}
	if len(t.threads) >= mostThreads {
		t.lostThreads++
		pid = overflow
		if th := t.threads[pid]; th != nil {
			return th
		}
	}
	proc := &process{pid: pid, fds: &fdTable{}}
	switch {
	case t.attached != nil:
		proc = t.attached
	case t.fromOutside:
		t.attached = proc
	}
	if proc == t.attached && pid > 0 {
		proc.pid = min(proc.pid, pid) // a process has its first thread's number
	}
	th := &thread{tid: pid, proc: proc, cells: t.emptyCells()}
	if proc == t.attached {
		th.unsure = mostUnsure
	}
	t.threads[pid] = th
	return th
}

// emptyCells are those of a thread that ended, or new ones.
func (t *Trace) emptyCells() (c cells) {
	if n := len(t.spareCells); n > 0 {
		c, t.spareCells = t.spareCells[n-1], t.spareCells[:n-1]
	}
	return c
}

// mostUnsure descriptors of a thread are looked at for whether it is of the process that
// it was taken to be of.
const mostUnsure = 8

// parted takes a thread out of the process that -p was taken to name alone: -yy says
// that one of its descriptors is another file than that process'.
func (t *Trace) parted(th *thread) {
	th.proc, th.unsure = &process{pid: th.tid, fds: &fdTable{}}, 0
}

// mostThreads that are followed at the same time; overflow takes the rest together.
const (
	mostThreads = 16_384
	overflow    = -1
)

// soonAfter lines of a child's end the line comes that tells of its birth; later ones tell of
// another thread that was given its number.
const soonAfter = 10_000

// forked makes the thread that a clone gave.
func (t *Trace) forked(parent *thread, tid int, args []byte) {
	if tid <= 0 || len(t.threads) >= mostThreads {
		return
	}
	child := t.threads[tid]
	if at, ok := t.unborn[tid]; ok && child == nil && t.Counts.Lines-at < soonAfter { // it has ended already: on a busy machine its lines come first
		delete(t.unborn, tid)
		return
	}
	t.born[tid] = true
	if child == nil {
		child = &thread{tid: tid, cells: t.emptyCells()}
		t.threads[tid] = child
	}
	switch {
	case hasFlag(args, "CLONE_THREAD"):
		child.proc = parent.proc
	case child.proc == nil || child.proc.pid == tid || child.proc == parent.proc:
		// Lines of the child may come before the call that made it returns.
		mine := &fdTable{}
		if child.proc != nil && child.proc != parent.proc {
			mine = child.proc.fds
		}
		child.proc = &process{pid: tid, parent: parent.proc.pid, comm: parent.proc.comm, fds: mine, limit: parent.proc.limit, hard: parent.proc.hard}
		if hasFlag(args, "CLONE_FILES") {
			child.proc.fds = parent.proc.fds
			return
		}
		parent.proc.fds.each(func(fd int32, d *descriptor) {
			if mine.get(fd) == nil && !t.noRoom() {
				t.knows(child.proc, fd, d.inherited(child.proc))
			}
		})
	}
}

// gone ends a thread; a call that it sat in ends with it.
func (t *Trace) gone(th *thread, at int64) {
	if th.open != nil {
		t.addOpen(th, at)
		th.open = nil
	}
	th.gone, t.ended = true, true
	if th.tid == th.proc.pid {
		th.proc.ended = true
	}
	if t.born[th.tid] {
		delete(t.born, th.tid)
	} else if len(t.unborn) < mostThreads {
		t.unborn[th.tid] = t.Counts.Lines
	}
	t.leave(th)
	delete(t.threads, th.tid)
	if t.recent == th {
		t.recent = nil
	}
}

// leave keeps a thread that ended until its second is written. Of a build thousands end in one, and
// in sessions that were put behind each other a second may last for the rest of the file: what so
// many left becomes rows at once.
func (t *Trace) leave(th *thread) {
	if t.left = append(t.left, th); len(t.left) < mostLeft {
		return
	}
	if t.early == nil {
		t.early = calltable.Table{}
	}
	t.takeLeft(t.foldingLeft(lengths{}), t.early)
	if len(t.early) > 4*calltable.Most {
		_, folded := t.early.Coarser(calltable.Most)
		t.folded += folded
	}
}

// mostLeft threads that ended are kept whole.
const mostLeft = 256

// takeLeft makes rows of the cells of those that ended, and keeps their memory for others.
func (t *Trace) takeLeft(fold folding, table calltable.Table) {
	for _, th := range t.left {
		fold.take(t, th, table)
		t.spare(th)
	}
	clear(t.left)
	t.left = t.left[:0]
}

// spare takes a thread's cells, which are empty, for another.
func (t *Trace) spare(th *thread) {
	if len(th.cells.slots) > 0 && len(t.spareCells) < mostLeft {
		t.spareCells = append(t.spareCells, th.cells)
	}
	th.cells = cells{}
}

// replaced is an execve of a thread that was not its process' first: it takes the
// first one's number.
func (t *Trace) replaced(pid, by int) {
	th := t.threads[by]
	if th == nil || pid == by {
		return
	}
	if old := t.threads[pid]; old != nil {
		old.open, old.gone = nil, true
		t.leave(old)
	}
	delete(t.threads, by)
	moved := &thread{tid: pid, proc: th.proc, open: th.open, cells: t.emptyCells()}
	th.open, th.gone = nil, true
	t.leave(th)
	t.threads[pid], t.recent = moved, nil
}

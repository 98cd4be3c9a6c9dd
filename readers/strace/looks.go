package strace

import (
	"snag/recording"
)

// looks are what a probe that looks at a process once a second would have found: its
// threads and the calls they sat in, its sockets, its log files. A trace of hours is
// looked at less often.
type looks struct {
	n int // rows
	// threads are the rows of threads, left those for which there was no room.
	threads, left int
	every         int64 // seconds
	last          int64 // when, ns
	fresh         []*descriptor
	shown         []*descriptor
	enough        int // of them, before those that are closed are looked for
	logs          []*descriptor
	in            map[*thread]span // threads in a call that another line already ended
}

// mostLooked rows of threads and processes, then half as many a time; of threads there are
// mostThreadRows in all.
const (
	mostLooked     = 10_000
	mostThreadRows = 50_000
)

// look notes what there is at the end of the second that is written.
func (t *Trace) look(end int64) {
	k := &t.looks
	if k.every == 0 {
		k.every = 1
		k.in = map[*thread]span{}
	}
	t.lookAtLogs(end, false)
	t.lookAtSockets(end)
	if end-k.last < k.every*t.o.Second {
		return
	}
	k.last = end
	clear(k.in)
	for _, s := range t.later {
		if s.begin <= end && s.end > end {
			k.in[s.th] = s
		}
	}
	threads := map[*process]int{}
	placed := t.placed(t.clock.style)
	room := k.threads+len(t.threads) <= mostThreadRows
	for _, th := range t.threads {
		threads[th.proc]++
		if !placed {
			continue
		}
		if row, ok := t.lookAt(th, end); ok {
			if !room { // of a look all have a row, or none
				k.left++
				continue
			}
			k.n++
			k.threads++
			t.out.Append(row)
		}
	}
	for p, n := range threads {
		if end-p.looked < 5*t.o.Second { // as the live probe: when first seen, then every 5 s
			continue
		}
		p.looked = end
		k.n++
		t.out.Append(p.row(end, n))
	}
	if k.n > mostLooked*int(k.every) {
		k.every *= 2
	}
}

// lookAt is where a thread is; false where that is not known.
func (t *Trace) lookAt(th *thread, end int64) (recording.Thread, bool) {
	row := recording.Thread{T: recording.Time(end), PID: th.proc.pid, TID: th.tid, Comm: th.comm(), State: "S", FD: -1, Voluntary: th.waits}
	var call uint16
	var args []byte
	if p := th.open; p != nil {
		call, row.FD, args = p.call, int(p.fd), p.args
	} else if s, ok := t.looks.in[th]; ok {
		call, row.FD, args = s.call, int(s.fd), s.args
	} else {
		row.State, row.Syscall = "R", "running"
		// Where strace was told to leave calls out (-e), it may sit in one of those.
		return row, end-th.seen < t.o.Second
	}
	row.Syscall = t.calls.names[call]
	if t.calls.class[call]&locking != 0 {
		address, op, value := futexCall(args)
		if isWait(op) {
			row.Futex, row.Lock = address, isMutex(op, value)
		}
	}
	return row, true
}

// row is the process as the table of processes has it: what a trace can tell of it.
func (p *process) row(at int64, threads int) recording.Process {
	return recording.Process{T: recording.Time(at), PID: p.pid, PPID: p.parent, Comm: p.comm, State: "S", Threads: threads, FDLimit: p.limit, FDHard: p.hard}
}

// lookAtSockets tells of the sockets that are there for the first time, as ss would
// have found them.
func (t *Trace) lookAtSockets(end int64) {
	k := &t.looks
	for _, d := range k.fresh {
		if d.closed || d.shown {
			continue
		}
		d.shown = true
		t.socketRow(d, end)
		k.shown = append(k.shown, d)
	}
	k.fresh = k.fresh[:0]
	if len(k.shown) > max(4096, k.enough) {
		still := k.shown[:0]
		for _, d := range k.shown {
			if !d.closed {
				still = append(still, d)
			}
		}
		clear(k.shown[len(still):])
		k.shown, k.enough = still, 2*len(still)
	}
}

func (t *Trace) socketRow(d *descriptor, at int64) {
	if t.socketRows++; t.socketRows > mostFDRows {
		return
	}
	r := &d.row
	t.out.Append(recording.Socket{
		T: recording.Time(at), Cookie: d.id, Proto: r.Proto, State: r.State, Local: r.Local, Remote: r.Remote,
		Owners: []recording.FDRef{{PID: d.owner.pid, Comm: d.owner.comm, FD: r.FD}},
	})
}

// closed ends a descriptor's life.
func (t *Trace) closed(d *descriptor, at int64) {
	if d == nil || d.closed {
		return
	}
	if d.closed = true; d.shown {
		t.socketRow(d, at)
	}
	t.release(d)
}

// logged follows what is written to a log file.
func (t *Trace) logged(d *descriptor, end int64, n uint64) {
	d.size += int64(n)
	d.wrote = end
	if !d.followed && len(t.looks.logs) < mostLogs {
		d.followed, d.kept = true, true
		t.looks.logs = append(t.looks.logs, d)
	}
}

// mostLogs files are followed.
const mostLogs = 1024

// lookAtLogs tells of log files that grew; last tells of all.
func (t *Trace) lookAtLogs(at int64, last bool) {
	for _, d := range t.looks.logs {
		if d.wrote == d.grown && !last || d.closed {
			continue
		}
		d.grown = d.wrote
		if t.logRows++; t.logRows > mostFDRows {
			continue
		}
		t.out.Append(recording.LogFile{
			T: recording.Time(at), PID: d.owner.pid, Comm: d.owner.comm, FD: d.row.FD, Path: d.row.Name, Inode: d.id, Size: d.size, MTime: recording.Time(d.wrote),
		})
	}
}

package strace

import (
	"snag/recording"
)

// waitKey is whose waits are counted together: one call on one descriptor or lock.
type waitKey struct {
	tid   int
	call  uint16
	fd    int32
	futex uint64
}

// shortestWait, ns, is the least that is told as a wait: a call of a millisecond and
// more in which threads can sleep sleeps nearly all of it.
const shortestWait = int64(1e6)

// mostWaits rows of a second; of a trace mostWaitRows.
const (
	mostWaits    = 4096
	mostWaitRows = 300_000
)

// manyWaits: from so many rows on waits are told from ten times that length on, and so on.
var manyWaits = []int{4000, 16_000, 40_000}

// leastWait is the length from which on waits are told, ns.
func (t *Trace) leastWait() int64 {
	least := shortestWait
	for _, n := range manyWaits {
		if t.waitRows > n {
			least *= 10
		}
	}
	return least
}

// waited counts a call in which a thread slept.
func (t *Trace) waited(th *thread, id uint16, fd int32, begin, took int64, args []byte) {
	th.waits++
	if took < shortestWait || took < t.leastWait() {
		return
	}
	k := waitKey{tid: th.tid, call: id, fd: fd}
	var waker *thread
	reason := t.reason(th, id, fd)
	if t.calls.class[id]&locking != 0 {
		address, op, _ := futexCall(args)
		if !isWait(op) {
			return
		}
		k.futex = address
		if l := t.locks[lockOf{th.proc.pid, address}]; l != nil {
			waker = l.waker
		}
	}
	row := t.waits[k]
	if row == nil {
		if len(t.waits) >= mostWaits {
			return
		}
		row = &recording.OffCPU{PID: th.proc.pid, TID: th.tid, Comm: th.comm(), Reason: reason, Futex: k.futex, Call: t.calls.names[id]}
		if fd >= 0 {
			n := int(fd)
			row.FD = &n
		}
		t.waits[k] = row
	}
	row.N++
	row.Sum += float64(took) / 1e9
	if s := float64(took) / 1e9; s > row.Max {
		row.Max, row.MaxAt = s, recording.Time(begin)
	}
	if waker != nil {
		row.WakerPID, row.WakerTID, row.WakerComm = waker.proc.pid, waker.tid, waker.comm()
	}
}

// reason is what a call waits for, as the probe of waits names it.
func (t *Trace) reason(th *thread, id uint16, fd int32) string {
	class := t.calls.class[id]
	switch {
	case class&locking != 0:
		return recording.WaitFutex
	case class&polls != 0:
		return recording.WaitPoll
	case class&sleeps != 0:
		return recording.WaitSleep
	case class&children != 0:
		return recording.WaitChild
	}
	d := th.proc.fds.get(fd)
	if d == nil {
		return recording.WaitOther
	}
	switch d.row.Kind {
	case "socket":
		return recording.WaitSocket
	case "pipe", "eventfd", "tty":
		return recording.WaitPipe
	case "file", "device":
		return recording.WaitDisk
	}
	return recording.WaitOther
}

func (t *Trace) flushWaits() {
	for k, row := range t.waits {
		row.T = recording.Time(t.second)
		if t.waitRows++; t.waitRows <= mostWaitRows {
			t.out.Append(*row)
		}
		delete(t.waits, k)
	}
}

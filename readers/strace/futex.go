package strace

import (
	"bytes"
	"strconv"

	"snag/recording"
)

func itoa(n int) string { return strconv.Itoa(n) }

// lockOf is a futex word of a process.
type lockOf struct {
	pid     int
	address uint64
}

// lock counts the waits on one word in the present second.
type lock struct {
	waiters  map[int]bool
	n        uint64
	sum, max int64
	seen     int // waits that were looked at, and of them those for the value of a taken lock
	taken    int
	comm     string
	waker    *thread // who woke last
	votes    int     // for owner, by majority vote
	owner    *thread
	idle     int // seconds without a wait
}

// locks are the words that threads waited on lately.
type locks map[lockOf]*lock

// mostLocks at a time; further ones are not told apart from conditions of their own.
const mostLocks = 16384

// futexCall reads the arguments of futex(2) as strace shows them:
// 0x7f…, FUTEX_WAIT_PRIVATE, 2, NULL.
func futexCall(args []byte) (address uint64, op []byte, value []byte) {
	if len(args) < 2 || args[0] != '0' || args[1] != 'x' {
		return 0, nil, nil
	}
	n, rest := hex(args[2:])
	if len(rest) < 2 || rest[0] != ',' || rest[1] != ' ' {
		return 0, nil, nil
	}
	op, rest = argument(rest[2:])
	value, _ = argument(rest)
	return uint64(n), op, value
}

// argument is what stands before the next comma, and what behind it.
func argument(b []byte) (first, rest []byte) {
	i := bytes.IndexByte(b, ',')
	if i < 0 {
		return b, nil
	}
	if rest = b[i+1:]; len(rest) > 0 && rest[0] == ' ' {
		rest = rest[1:]
	}
	return b[:i], rest
}

func (ls locks) get(pid int, address uint64) *lock {
	k := lockOf{pid, address}
	l := ls[k]
	if l == nil {
		if len(ls) >= mostLocks {
			return nil
		}
		l = &lock{waiters: map[int]bool{}}
		ls[k] = l
	}
	return l
}

// begin notes a wait that another thread's line cut off.
func (ls locks) begin(th *thread, id uint16, calls *callNames, args []byte, _ int64) {
	if calls.class[id]&locking == 0 {
		return
	}
	address, op, value := futexCall(args)
	if !isWait(op) {
		return
	}
	if l := ls.get(th.proc.pid, address); l != nil {
		l.note(th, value, op)
	}
}

func isWait(op []byte) bool {
	return bytes.HasPrefix(op, []byte("FUTEX_WAIT")) || bytes.HasPrefix(op, []byte("FUTEX_LOCK_PI"))
}

func isWake(op []byte) bool {
	return bytes.HasPrefix(op, []byte("FUTEX_WAKE")) || bytes.HasPrefix(op, []byte("FUTEX_UNLOCK_PI")) || bytes.Contains(op, []byte("REQUEUE"))
}

func (l *lock) note(th *thread, value, op []byte) {
	l.waiters[th.tid] = true
	l.comm = th.comm()
	l.seen++
	if isMutex(op, value) {
		l.taken++
	}
}

// isMutex: glibc's, Go's and Rust's locks wait for the value 2 once they are taken.
func isMutex(op, value []byte) bool {
	return string(value) == "2" || bytes.HasPrefix(op, []byte("FUTEX_LOCK_PI"))
}

// end counts a futex call that ended.
func (ls locks) end(t *Trace, th *thread, args []byte, line *Line, begin, end int64) {
	address, op, value := futexCall(args)
	switch {
	case isWait(op):
		l := ls.get(th.proc.pid, address)
		if l == nil || string(line.Errno) == "EAGAIN" { // the word had changed: nobody waited
			return
		}
		l.note(th, value, op)
		l.n++
		if line.Took >= 0 {
			l.sum += end - max(begin, t.second)
			l.max = max(l.max, line.Took)
		}
		if line.Errno == nil {
			l.vote(l.waker)
		}
	case isWake(op):
		if l := ls[lockOf{th.proc.pid, address}]; l != nil {
			l.waker = th
		}
	}
}

// vote is Boyer and Moore's for the majority.
func (l *lock) vote(waker *thread) {
	switch {
	case waker == nil:
	case l.votes == 0:
		l.owner, l.votes = waker, 1
	case l.owner == waker:
		l.votes++
	default:
		l.votes--
	}
}

// flush writes the second's waits, those that go on included.
func (ls locks) flush(t *Trace, end int64) {
	for _, th := range t.threads {
		p := th.open
		if p == nil || t.calls.class[p.call]&locking == 0 {
			continue
		}
		address, op, value := futexCall(p.args)
		if l := ls.get(th.proc.pid, address); isWait(op) && l != nil {
			l.note(th, value, op)
			l.sum += end - max(p.begin, t.second)
			l.max = max(l.max, end-p.begin)
		}
	}
	for k, l := range ls {
		if len(l.waiters) == 0 {
			if l.idle++; l.idle > 60 {
				delete(ls, k)
			}
			continue
		}
		row := recording.LockWait{
			T: recording.Time(t.second), PID: k.pid, Comm: l.comm, Address: k.address, Kind: "condition",
			Waiters: len(l.waiters), N: l.n, Sum: float64(l.sum) / 1e9, Max: float64(l.max) / 1e9,
		}
		if 2*l.taken > l.seen { // a condition counts, and comes by the value 2 now and then
			row.Kind = "mutex"
		}
		if l.owner != nil {
			row.Owner, row.OwnerBy, row.OwnerComm = l.owner.tid, "waker", l.owner.comm()
			row.OwnerCall, row.OwnerFD = t.meanwhile(l.owner)
		}
		if t.lockRows++; t.lockRows <= mostLockRows {
			t.out.Append(row)
		}
		*l = lock{waiters: l.waiters, waker: l.waker, comm: l.comm}
		clear(l.waiters)
	}
}

// meanwhile is the call that a thread spent most of the second in, apart from its own
// waits for locks; "" where none fills half of that.
func (t *Trace) meanwhile(th *thread) (string, *int) {
	var most *cell
	left := t.o.Second
	for i := range th.cells.slots {
		c := &th.cells.slots[i]
		switch {
		case c.key == 0:
		case t.calls.class[c.key>>32]&locking != 0:
			left -= c.sum
		case most == nil || c.sum > most.sum:
			most = c
		}
	}
	if most == nil || 2*most.sum < left {
		return "", nil
	}
	fd := int(int32(uint32(most.key)))
	if fd < 0 {
		return t.calls.names[most.key>>32], nil
	}
	return t.calls.names[most.key>>32], &fd
}

// mostLockRows of a trace are kept; further ones are counted.
const mostLockRows = 200_000

package offcpu

import (
	"cmp"

	"snag/internal/kernel"
	"snag/internal/sorting"
	"snag/probes/threads"
	"snag/recording"
)

// lockID is one futex of one process, by what is waited for there.
type lockID struct {
	pid     uint32
	address uint64
	lock    bool
}

// futex is what all threads of a process waited on one futex in one second.
type futex struct {
	lockID
	waiters map[uint32]bool
	n       uint64
	sum     uint64 // ns, of this second
	max     uint64 // ns, since they began
	comm    [16]uint8
	stack   pair
	waker   kernelWaker
}

// futexWait reports whether a thread waits on a futex now, and on which.
func futexWait(t *kernelThread, nrFutex int32) (id lockID, ok bool) {
	if t.Start == 0 || t.Woken > t.Start || t.How == howReady || t.Nr != nrFutex {
		return lockID{}, false
	}
	address, lock := threads.ParseFutex(t.Args)
	if address == 0 {
		address = t.Args[0] // to be put in another's queue: it waits all the same
	}
	return lockID{t.Tgid, address, lock}, true
}

// futexes adds up what ended in the second [from, to) and the part in it of what goes
// on, ns of CLOCK_MONOTONIC.
type futexes struct {
	all map[lockID]*futex
}

func (f *futexes) get(id lockID) *futex {
	if f.all == nil {
		f.all = map[lockID]*futex{}
	}
	x := f.all[id]
	if x == nil {
		x = &futex{lockID: id, waiters: map[uint32]bool{}}
		f.all[id] = x
	}
	return x
}

func (f *futexes) ended(k kernelLockKey, v kernelLockValue) {
	x := f.get(lockID{k.Tgid, k.Address, k.Lock != 0})
	x.waiters[k.Tid] = true
	x.n += v.N
	x.sum += v.Sum
	x.comm = v.Comm
	if v.Max >= x.max {
		x.max, x.stack = v.Max, pair{int(k.Tgid), v.Kstack, v.Ustack, v.Site}
	}
	switch {
	case x.waker.Tid == v.Waker.Tid:
		x.waker.Votes += v.Waker.Votes
	case v.Waker.Votes > x.waker.Votes:
		x.waker = v.Waker
	}
}

func (f *futexes) goesOn(tid uint32, t *kernelThread, id lockID, from, to uint64) {
	if to <= t.Start {
		return
	}
	x := f.get(id)
	x.waiters[tid] = true
	x.sum += to - max(from, t.Start)
	x.comm = t.Comm
	if took := to - t.Start; took >= x.max {
		x.max, x.stack = took, pair{int(t.Tgid), t.Kstack, t.Ustack, t.Site}
	}
}

// busiest are the locks, then the conditions, that were waited for longest, most of
// each; and how many were left out.
func (f *futexes) busiest(most int) (out []*futex, left int) {
	var locks, conditions []*futex
	for _, x := range f.all {
		if x.lock {
			locks = append(locks, x)
		} else {
			conditions = append(conditions, x)
		}
	}
	for _, list := range [][]*futex{locks, conditions} {
		sorting.By(list, func(a, b *futex) int {
			return cmp.Or(cmp.Compare(b.sum, a.sum), cmp.Compare(a.pid, b.pid), cmp.Compare(a.address, b.address))
		})
		out = append(out, list[:min(len(list), most)]...)
		left += max(0, len(list)-most)
	}
	return out, left
}

// Kinds of LockWait.
const (
	kindMutex     = "mutex"
	kindCondition = "condition"
)

// lockRow turns a futex into its row. own is who held it when it was looked at.
func lockRow(t recording.Time, x *futex, own *holding, names, wakers naming) recording.LockWait {
	row := recording.LockWait{
		T: t, PID: int(x.pid), Comm: kernel.Text(x.comm[:]), Address: x.address, Kind: kindCondition,
		Waiters: len(x.waiters), N: x.n, Sum: seconds(x.sum), Max: seconds(x.max),
		Stack: names.id(x.stack),
	}
	if !x.lock {
		return row // nobody holds it
	}
	row.Kind = kindMutex
	wakerPID, wakerTID, wakerComm, wakerStack := 0, 0, "", 0
	if x.waker.Known != 0 {
		wakerPID, wakerTID, wakerComm, wakerStack = wakerOf(x.waker, wakers)
	}
	switch {
	case own != nil:
		h := own.most()
		row.Owner, row.OwnerBy, row.OwnerComm = int(h.tid), "word", h.comm
		row.OwnerCall, row.OwnerStack = h.call, names.id(h.stack)
		if h.fd >= 0 {
			fd := h.fd
			row.OwnerFD = &fd
		}
		// Where it let go is in the function that held it, or below.
		if row.OwnerStack == 0 && wakerPID == row.PID {
			row.OwnerStack = wakerStack
		}
	case wakerPID == row.PID && wakerTID != 0:
		row.Owner, row.OwnerBy, row.OwnerComm, row.OwnerStack = wakerTID, "waker", wakerComm, wakerStack
	}
	return row
}

// passedRow adds to the row of a lock whose word names nobody what those who let go of
// it had been in meanwhile: what the stacks of their waits and of their wakes tell.
func passedRow(row recording.LockWait, h held, names, wakers stackNames) recording.LockWait {
	row.Owner, row.OwnerBy, row.OwnerComm, row.OwnerCall = int(h.tid), "waker", h.comm, h.call
	if h.letGo {
		row.OwnerStack = wakers.id(h.stack)
		return row
	}
	if h.fd >= 0 {
		fd := h.fd
		row.OwnerFD = &fd
	}
	row.OwnerStack = names.id(h.stack)
	// The function of the program may be seen in one of the two only.
	if names.function(h.stack) == "" && wakers.function(h.wake) != "" {
		row.OwnerStack = wakers.id(h.wake)
	}
	return row
}

// stackNames is all that is asked about stacks.
type stackNames interface {
	naming
	functionNames
}

package runtimes

import (
	"cmp"

	"snag/internal/kernel"
	"snag/internal/sorting"
	"snag/recording"
)

// mutexID is one sync.Mutex of one process.
type mutexID struct {
	pid     uint32
	address uint64
}

// mutex is what was seen of one mutex in one second.
type mutex struct {
	mutexID
	waiters map[uint64]bool // goroutines
	most    uint32          // that waited at once, by the mutex' own count
	n       uint64
	sum     uint64 // ns, of this second
	max     uint64 // ns, since they began
	comm    string
	waits   golangPlace // of the longest wait
	owners  map[owner]uint64
	last    map[owner]uint32 // the thread of the last of them
	held    uint64           // ns, by all owners
}

// owner is what those who had a mutex did meanwhile.
type owner struct {
	call  string // read or write of a descriptor; running
	fd    int32
	where golangPlace
}

// mutexes adds up the unlocks of one second. What a goroutine waited for ended when the
// one before it let go: letGo are those times, ns, kept from second to second.
type mutexes struct {
	letGo map[mutexID]uint64
	all   map[mutexID]*mutex
}

func (m *mutexes) get(id mutexID) *mutex {
	if m.all == nil {
		m.all = map[mutexID]*mutex{}
	}
	x := m.all[id]
	if x == nil {
		x = &mutex{mutexID: id, waiters: map[uint64]bool{}, owners: map[owner]uint64{}, last: map[owner]uint32{}}
		m.all[id] = x
	}
	return x
}

// mostMutexes are kept from second to second.
const mostMutexes = 1 << 14

// add takes an unlock, in order of time; from is when the second began.
func (m *mutexes) add(u golangUnlock, from uint64) {
	id := mutexID{u.Pid, u.Mutex}
	x := m.get(id)
	x.most = max(x.most, u.Waiters)
	x.comm = kernel.Text(u.Comm[:])
	before := m.letGo[id]
	if m.letGo == nil || len(m.letGo) >= mostMutexes {
		m.letGo = map[mutexID]uint64{}
	}
	m.letGo[id] = u.At
	waited := u.Was.Mutex == u.Mutex && u.Was.Since != 0
	// It had it since the one before let go, or since it came, if nobody had it then.
	since := before
	if waited {
		since = max(before, u.Was.Since)
		x.waiters[u.G] = true
	}
	if waited && before > u.Was.Since && before <= u.At {
		x.n++
		if began := max(from, u.Was.Since); before > began {
			x.sum += before - began
		}
		if took := before - u.Was.Since; took >= x.max {
			x.max, x.waits = took, u.Was.Where
		}
	}
	if before == 0 || since >= u.At {
		return // when it got it is not known
	}
	held := u.At - since
	o := owner{call: "running", fd: -1, where: u.Where}
	if waited && u.Was.Polled >= since && u.Was.Polled <= u.At && 2*(u.At-u.Was.Polled) >= held {
		o = owner{call: "read", fd: u.Was.Fd, where: u.Was.Poll}
		if u.Was.Mode == 'w' {
			o.call = "write"
		}
	}
	x.held += held
	x.owners[o] += held
	x.last[o] = u.Tid
}

// goesOn adds the part in the second [from, to) of a wait that has not ended.
func (m *mutexes) goesOn(k golangGoroutine, w golangWaiting, from, to uint64) {
	if w.Since >= to {
		return
	}
	x := m.get(mutexID{k.Pid, w.Mutex})
	x.waiters[k.G] = true
	x.sum += to - max(from, w.Since)
	if took := to - w.Since; took >= x.max {
		x.max, x.waits = took, w.Where
	}
}

// stillWaiting are those of the goroutines that came to lock a mutex and have not been
// seen to let it go, that wait at this moment: the mutex itself counts n. One that got it
// and let go while nobody waited was not seen to do so: those that came last wait.
func stillWaiting(came []waiter, n int) []waiter {
	sorting.By(came, func(a, b waiter) int {
		return cmp.Or(cmp.Compare(b.w.Since, a.w.Since), cmp.Compare(a.k.G, b.k.G))
	})
	return came[:min(len(came), max(n, 0))]
}

type waiter struct {
	k golangGoroutine
	w golangWaiting
}

// busiest are the mutexes that were waited for longest, most of them.
func (m *mutexes) busiest(most int) (out []*mutex, left int) {
	for _, x := range m.all {
		out = append(out, x)
	}
	sorting.By(out, func(a, b *mutex) int {
		return cmp.Or(cmp.Compare(b.sum, a.sum), cmp.Compare(a.pid, b.pid), cmp.Compare(a.address, b.address))
	})
	return out[:min(len(out), most)], max(0, len(out)-most)
}

// holder is what those who had it did for the longest time, and on which thread the
// last of them ran; false where nobody was seen to let go.
func (x *mutex) holder() (best owner, tid uint32, ok bool) {
	var most uint64
	for o, held := range x.owners {
		if held > most || held == most && before(o, best) {
			best, most, ok = o, held, true
		}
	}
	return best, x.last[best], ok
}

func before(a, b owner) bool {
	return cmp.Or(cmp.Compare(a.call, b.call), cmp.Compare(a.fd, b.fd), cmp.Compare(a.where.Stack, b.where.Stack), cmp.Compare(a.where.Caller, b.where.Caller)) < 0
}

// stacks gives a place of a process the id of its stack.
type stacks interface {
	id(pid int, p golangPlace) int
}

// row of a mutex. Its waiters are goroutines.
func (x *mutex) row(t recording.Time, comm string, names stacks) recording.LockWait {
	row := recording.LockWait{
		T: t, PID: int(x.pid), Comm: comm, Address: x.address, Kind: "mutex",
		Waiters: max(len(x.waiters), int(x.most)), N: x.n, Sum: float64(x.sum) / 1e9, Max: float64(x.max) / 1e9,
		Stack: names.id(int(x.pid), x.waits),
	}
	o, tid, ok := x.holder()
	if !ok {
		return row
	}
	row.Owner, row.OwnerBy, row.OwnerComm, row.OwnerCall = int(tid), recording.OwnerUnlocks, x.comm, o.call
	row.OwnerStack = names.id(int(x.pid), o.where)
	if o.fd >= 0 {
		fd := int(o.fd)
		row.OwnerFD = &fd
	}
	return row
}

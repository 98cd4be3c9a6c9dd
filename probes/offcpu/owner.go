package offcpu

import (
	"snag/internal/kernel"
	"snag/probes/threads"
)

// fewWaiters at one lock are what any program shows now and then.
const fewWaiters = 2

// mostOwners locks are looked into at one look.
const mostOwners = 16

// held is what the thread that held a lock was in.
type held struct {
	call  string // "running"; the call's name; "none"
	fd    int    // -1: none
	stack pair
	tid   uint32 // of these the last that was seen
	comm  string
	// letGo: stack is where it let go, not what it was in. wake is where it let go, if
	// that is known besides.
	letGo bool
	wake  pair
}

// holding is what the holders of one lock were in, by how many looks.
type holding struct {
	looks map[held]int
	last  map[held]held // with the thread
}

func (h *holding) add(w held) { h.addFor(w, 1) }

// addFor counts a holder by how often it was seen, or by how long it held the lock.
func (h *holding) addFor(w held, n int) {
	k := w
	k.tid, k.comm, k.wake = 0, "", noPair
	if h.looks == nil {
		h.looks, h.last = map[held]int{}, map[held]held{}
	}
	h.looks[k] += n
	if was, ok := h.last[k]; ok && w.wake.thread < 0 {
		w.wake = was.wake // not every wake has a stack
	}
	h.last[k] = w
}

// most is what the holders were in most often. Of a lock that many threads hold in
// turn that is the same place, whoever stands there.
func (h *holding) most() held {
	var best held
	n := 0
	for k, looks := range h.looks {
		if looks > n || looks == n && less(k, best) {
			n, best = looks, k
		}
	}
	return h.last[best]
}

func less(a, b held) bool {
	if a.call != b.call {
		return a.call < b.call
	}
	if a.stack.thread != b.stack.thread {
		return a.stack.thread < b.stack.thread
	}
	return a.stack.kernel < b.stack.kernel
}

// doing is what a thread is in now.
func doing(tid uint32, t *kernelThread) held {
	h := held{call: "running", fd: -1, stack: noPair, wake: noPair, tid: tid, comm: kernel.Text(t.Comm[:])}
	if t.Start == 0 || t.How == howReady || t.Woken > t.Start {
		return h
	}
	h.stack = pair{int(t.Tgid), t.Kstack, t.Ustack, t.Site}
	if t.Nr < 0 {
		h.call = "none"
		return h
	}
	h.call = callName(t.Nr)
	h.fd, _ = threads.Descriptor(h.call, t.Args[0])
	return h
}

// jams are the locks that several threads wait for now, those with most waiters.
func jams(all map[uint32]kernelThread, nrFutex int32) []lockID {
	waiters := map[lockID]int{}
	for _, t := range all {
		if id, ok := futexWait(&t, nrFutex); ok && id.lock {
			waiters[id]++
		}
	}
	var out []lockID
	for id, n := range waiters {
		if n >= fewWaiters {
			out = append(out, id)
		}
	}
	if len(out) > mostOwners {
		out = out[:mostOwners] // of a map: others each time
	}
	return out
}

// world is where the looks at locks get what they need.
type world struct {
	memory func(pid int, address uint64, b []byte) error
	// thread is the kernel's entry of a thread at this moment.
	thread func(tid uint32) (kernelThread, bool)
	// host finds a thread of the process by the id that the process knows it by.
	host func(pid uint32, local int) (tid uint32, ok bool)
}

// tries to find the holder of a lock that changes hands while it is looked at.
const tries = 3

// owner finds who holds a lock and what it is in.
func (w world) owner(id lockID) (h held, ok bool) {
	for range tries {
		if h, ok = w.ownerNow(id); ok {
			break
		}
	}
	return h, ok
}

// ownerNow reads the word before and after: a lock that changed hands meanwhile tells
// nothing.
func (w world) ownerNow(id lockID) (held, bool) {
	local, ok := w.word(id)
	if !ok {
		return held{}, false
	}
	tid, ok := w.host(id.pid, local)
	if !ok {
		return held{}, false
	}
	t, known := w.thread(tid)
	if known && t.Tgid != id.pid {
		return held{}, false
	}
	h := doing(tid, &t)
	if again, ok := w.word(id); !ok || again != local {
		return held{}, false
	}
	return h, true
}

func (w world) word(id lockID) (tid int, ok bool) {
	var b [threads.MutexHead]byte
	if err := w.memory(int(id.pid), id.address, b[:]); err != nil {
		return 0, false
	}
	return threads.ParseOwner(b[:])
}

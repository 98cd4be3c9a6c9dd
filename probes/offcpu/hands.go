package offcpu

import (
	"cmp"
	"maps"
	"slices"

	"snag/internal/kernel"
	"snag/internal/sorting"
)

// mostHands are noted in a second: HANDS of tables.h.
const mostHands = 4096

// hand is one time that a lock went from a thread to the next, perhaps: a thread that had
// been woken from a futex by another of its process wakes a third.
type hand struct {
	key   kernelHandKey
	value kernelHandValue
	since uint64 // the one who lets go has had it since; set by settle
	woken bool   // it had been woken for it, and had not just come by
}

// held is how long the one who lets go had it, ns.
func (h hand) held() uint64 { return h.key.At - min(h.since, h.key.At) }

// wake is that a thread was woken at a time.
type wake struct {
	pid, tid uint32
	at       uint64
}

// settle keeps those of hands, by time, by which a lock went on. Threads wake each other
// for work too: but who is woken for a lock passes it on, or finds it taken and waits
// again at once, in vain, until whoever took it wakes the next.
func settle(hands []hand) []hand {
	passes, vain := map[wake]bool{}, map[wake]int{}
	for i, h := range hands {
		v := h.value
		if v.Hold.Got != 0 {
			passes[wake{v.Tgid, h.key.Tid, v.Hold.Got}] = true
		}
		if v.Vain != 0 {
			vain[wake{v.Tgid, v.To, v.Vain}] = i
		}
	}
	real := make([]bool, len(hands))
	for i := len(hands) - 1; i >= 0; i-- {
		v := hands[i].value
		w := wake{v.Tgid, v.To, hands[i].key.At}
		again, ok := vain[w]
		real[i] = hands[i].key.Lock != 0 || passes[w] || ok && again > i && real[again]
	}
	var out []hand
	let, kept := map[wake]bool{}, map[wake]bool{}
	for i, h := range hands {
		v := h.value
		got := wake{v.Tgid, h.key.Tid, v.Hold.Got}
		switch {
		case !real[i]:
			continue
		case v.Hold.Got != 0 && !let[got]:
			let[got] = true
			h.since, h.woken = v.Hold.Got, true
		case v.Vain != 0 && kept[wake{v.Tgid, v.To, v.Vain}]:
			h.since = v.Vain
		default:
			continue
		}
		kept[wake{v.Tgid, v.To, h.key.At}] = true
		out = append(out, h)
	}
	return out
}

// passing is how one lock went from thread to thread in a second.
type passing struct {
	pid   uint32
	hands []hand // by time
	// home is the word that each waiter parks on, where the lock has none of its own.
	home map[uint32]parked
}

// parked is where and how a thread waits.
type parked struct {
	address uint64
	stack   pair
}

// sortHands tells the locks apart that were passed on: those with a word by it; those
// whose waiters park on words of their own by which threads they pass between.
func sortHands(hands []hand) (byWord map[lockID]*passing, parking []*passing) {
	sorting.By(hands, func(a, b hand) int {
		return cmp.Or(cmp.Compare(a.key.At, b.key.At), cmp.Compare(a.key.Tid, b.key.Tid))
	})
	hands = settle(hands)
	byWord = map[lockID]*passing{}
	groups := threadGroups{}
	for _, h := range hands {
		if h.key.Lock != 0 {
			id := lockID{h.value.Tgid, h.value.Address, true}
			if byWord[id] == nil {
				byWord[id] = &passing{pid: id.pid}
			}
			byWord[id].hands = append(byWord[id].hands, h)
			continue
		}
		groups.join(h.value.Tgid, h.key.Tid, h.value.To)
	}
	by := map[groupOf]*passing{}
	for _, h := range hands {
		if h.key.Lock != 0 {
			continue
		}
		g := groups.of(h.value.Tgid, h.value.To)
		if by[g] == nil {
			by[g] = &passing{pid: h.value.Tgid, home: map[uint32]parked{}}
			parking = append(parking, by[g])
		}
		by[g].hands = append(by[g].hands, h)
		by[g].home[h.value.To] = parked{h.value.Address, h.place()}
	}
	return byWord, parking
}

// groupOf names a group of threads by one of them.
type groupOf struct{ pid, tid uint32 }

// threadGroups joins threads that wake each other.
type threadGroups map[groupOf]groupOf

func (t threadGroups) of(pid, tid uint32) groupOf {
	g := groupOf{pid, tid}
	for {
		up, ok := t[g]
		if !ok || up == g {
			return g
		}
		if next, ok := t[up]; ok {
			t[g] = next
		}
		g = up
	}
}

func (t threadGroups) join(pid, a, b uint32) {
	x, y := t.of(pid, a), t.of(pid, b)
	t[x] = y
	t[y] = y
}

// What a lock looks like whose waiters park on words of their own. Threads that hand
// work to each other wake each other as well; but then several of them work at once, or
// always the same one does.
const (
	// heldShare of the time somebody has it, while threads wait for it.
	heldShare = 0.5
	// atOnce of the time that threads had it, another had it too: a lock has one holder.
	// Who is woken for a lock may find it taken, and waits again.
	atOnce = 0.15
	// fewHolders have it in turn, none of them longer than mostAlone of the time.
	fewHolders = 4
	mostAlone  = 0.6
	// wokenShare of the time somebody had it who was woken for it, and had not just
	// come by.
	wokenShare = 0.2
	// fewWaiting threads wait for it.
	fewWaiting = 3
)

// isLock reports whether it is one lock that goes round between from and to, ns.
func (p *passing) isLock(from, to uint64) bool {
	holders, waiting := map[uint32]uint64{}, map[uint32]bool{}
	var sum, woken, union, end uint64
	first := to
	for _, h := range p.byStart() {
		took := h.held()
		holders[h.key.Tid] += took
		waiting[h.value.To] = true
		sum += took
		first = min(first, h.since)
		if h.woken {
			woken += took
		}
		if h.key.At > end {
			union += h.key.At - max(end, min(h.since, h.key.At))
			end = h.key.At
		}
	}
	if sum == 0 || to <= from {
		return false
	}
	most := slices.Max(slices.Collect(maps.Values(holders)))
	return len(holders) >= fewHolders && float64(most) <= mostAlone*float64(sum) &&
		len(waiting) >= fewWaiting && float64(woken) >= wokenShare*float64(sum) &&
		float64(sum-union) <= atOnce*float64(sum) &&
		float64(union) >= heldShare*float64(to-min(first, from))
}

// byStart are its hands by when the one who lets go had got it.
func (p *passing) byStart() []hand {
	out := slices.Clone(p.hands)
	sorting.By(out, func(a, b hand) int {
		return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.key.At, b.key.At))
	})
	return out
}

// waits adds up the waits for it that ended in the second [from, to), and of those that
// go on their part in it. now are the threads as they are at to.
func (p *passing) waits(from, to uint64, now map[uint32]kernelThread) *futex {
	f := &futex{lockID: lockID{p.pid, 0, true}, waiters: map[uint32]bool{}}
	for _, h := range p.hands {
		v := h.value
		if h.key.At < from {
			continue
		}
		f.waiters[v.To] = true
		f.n++
		f.comm = v.Comm
		if begin := max(from, v.Began); h.key.At > begin {
			f.sum += h.key.At - begin
		}
		if took := h.key.At - min(v.Began, h.key.At); took >= f.max {
			f.max, f.stack = took, pair{int(v.Tgid), v.Kstack, v.Ustack, v.Site}
		}
	}
	for tid, home := range p.home {
		t, ok := now[tid]
		if !ok || !home.again(&t) || to <= t.Start {
			continue
		}
		f.waiters[tid] = true
		f.sum += to - max(from, t.Start)
		if took := to - t.Start; took >= f.max {
			f.max, f.stack = took, home.stack
		}
	}
	return f
}

// condSize: the two words of a glibc condition that its waiters take turns on lie
// closer than this (sysdeps/nptl/bits/thread-shared-types.h, __pthread_cond_s).
const condSize = 48

// near reports whether a word is that of the same condition.
func (h parked) near(address uint64) bool {
	return address+condSize > h.address && address < h.address+condSize
}

// again reports whether a thread waits now as it did: by the same walk; what else lies on
// its stack may have changed.
func (h parked) again(t *kernelThread) bool {
	id, ok := futexWait(t, nrFutex)
	return ok && !id.lock && h.near(id.address) &&
		h.stack == pair{int(t.Tgid), t.Kstack, t.Ustack, h.stack.site}
}

// waitForWork are the calls in which a thread of a server waits for what comes next.
var waitForWork = map[string]bool{
	"epoll_wait": true, "epoll_pwait": true, "epoll_pwait2": true, "poll": true, "ppoll": true, "select": true, "pselect6": true,
	"accept": true, "accept4": true, "io_uring_enter": true, "io_getevents": true,
}

// turnsToWait tells threads that take turns to wait for work, a leader and those that
// follow it: what they queue for is nothing to do.
func (p *passing) turnsToWait() bool {
	h := p.holders()
	return waitForWork[h.most().call]
}

// place is where the one that was woken waited.
func (h hand) place() pair {
	return pair{int(h.value.Tgid), h.value.Kstack, h.value.Ustack, h.value.Site}
}

// holders are what those who had it did meanwhile, by how long.
func (p *passing) holders() holding {
	var out holding
	bare := held{}
	var most held
	n, least := 0, 0
	for _, h := range p.hands {
		w, took := h.doing(), int(min(h.held(), 1<<53))
		if w.letGo && w.stack.thread < 0 {
			n, bare = n+took, w // its wake had no stack: it let go where the others did
			continue
		}
		out.addFor(w, took)
		if w.letGo && took >= least {
			least, most = took, w
		}
	}
	switch {
	case n == 0:
	case most.letGo:
		out.addFor(most, n)
	default:
		out.addFor(bare, n)
	}
	return out
}

// busyShare of the time that somebody had a lock, in one wait: then that is what the
// others waited for.
const busyShare = 0.5

// doing is what the thread was in while it had the lock: its longest wait, where that
// took most of the time; else it ran, and where it let go is told.
func (h hand) doing() held {
	v := h.value
	out := held{
		call: "running", fd: -1, tid: h.key.Tid, comm: kernel.Text(v.WakerComm[:]), wake: noPair,
		stack: pair{int(v.Tgid), v.WakerKstack, v.WakerUstack, v.WakerSite}, letGo: true,
	}
	if v.Hold.BusyAt < h.since || float64(v.Hold.Busy) < busyShare*float64(h.held()) {
		return out
	}
	t := kernelThread{Start: 1, Tgid: v.Tgid, Nr: v.Hold.Nr, Args: [3]uint64{v.Hold.Object}, How: howSleep, Kstack: v.Hold.Kstack, Ustack: v.Hold.Ustack, Site: v.Hold.Site, Comm: v.WakerComm}
	busy := doing(h.key.Tid, &t)
	busy.wake = out.stack
	return busy
}
